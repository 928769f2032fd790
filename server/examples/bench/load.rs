//! How busy the machine is: a figure taken on a busy machine says little.

/// Cores and load in one line, where the system tells it.
pub fn now() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    match std::fs::read_to_string("/proc/loadavg") {
        Ok(text) => {
            let of_a_minute = text.split_whitespace().next().unwrap_or("?");
            format!("{cores} cores, load {of_a_minute}")
        }
        Err(_) => format!("{cores} cores, load unknown"),
    }
}
