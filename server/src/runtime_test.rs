//! Starting and stopping the parts on an embedded API: the lease that is let go, and the limits of the command line.

use super::*;
use crate::cli::Cli;
use clap::Parser;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use tokio::time::Instant;

fn arguments(more: &[&str]) -> ServeArgs {
    Cli::try_parse_from(["pilothouse"].iter().chain(more)).unwrap().serve
}

/// Who holds the lease; nobody when it was let go.
async fn holder(client: &kube::Client) -> String {
    let leases: Api<Lease> = Api::namespaced(client.clone(), crds::pilothouse::NAMESPACE);
    let lease = leases.get_opt("pilothouse").await.unwrap();
    lease.and_then(|lease| lease.spec?.holder_identity).unwrap_or_default()
}

async fn some_holder(client: &kube::Client) -> String {
    loop {
        let holder = holder(client).await;
        if !holder.is_empty() {
            return holder;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

// The clock is paused: it shows how long the parts waited, not how fast this machine is.
#[tokio::test(start_paused = true)]
async fn after_a_stop_another_replica_leads_at_once() {
    let api = sandbox::api::Server::new();
    crds::install::install(&api.client()).await.unwrap();
    let args = arguments(&[]);

    let stop = CancellationToken::new();
    let first = start(&args, String::new(), api.client(), None, &stop).unwrap();
    let led = some_holder(&api.client()).await;
    stop.cancel();
    let_go(first.election).await;
    assert_eq!(holder(&api.client()).await, "", "the lease was let go before the process ends");

    let stop = CancellationToken::new();
    let begun = Instant::now();
    let second = start(&args, String::new(), api.client(), None, &stop).unwrap();
    let leads = some_holder(&api.client()).await;
    assert_ne!(leads, led);
    assert!(
        begun.elapsed() < Duration::from_secs(1),
        "a lease that runs out takes 15 s: {:?}",
        begun.elapsed()
    );
    stop.cancel();
    let_go(second.election).await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_let_go_holds_the_stop_up_for_a_bounded_time() {
    let begun = Instant::now();
    let_go(tokio::spawn(std::future::pending())).await;
    assert!(begun.elapsed() <= GRACE + Duration::from_millis(1), "{:?}", begun.elapsed());
}

#[test]
fn the_controllers_work_as_hard_as_the_command_line_says() {
    let told = limits(&arguments(&["--qps", "7", "--burst", "9", "--workers", "3"]));
    assert_eq!((told.qps, told.burst, told.set_workers, told.server_workers), (Some(7), 9, 3, 3));
    let (default, told) = (controllers::run::Options::default(), limits(&arguments(&[])));
    assert_eq!((told.qps, told.burst), (default.qps, default.burst), "one default, not two");
}
