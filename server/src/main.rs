//! The `pilothouse` binary: reads the command line and hands over.

use clap::Parser;
use pilothouse::{
    cli::{Cli, Command},
    logging, runtime, simulate,
};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pilothouse: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match cli.command {
        Some(Command::Crds) => {
            print!("{}", crds::yaml()?);
            Ok(())
        }
        Some(Command::SimulateNodes(args)) => {
            logging::start(args.log_format);
            runtime.block_on(simulate::run(&args))
        }
        None => {
            logging::start(cli.serve.log_format);
            runtime.block_on(runtime::serve(&cli.serve))
        }
    }
}
