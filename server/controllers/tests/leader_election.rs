//! Leader election on the embedded API with a paused clock: one at a time, quick when a leader goes well, in time when it
//! dies, and never two.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use controllers::leader::Election;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, api::ListParams};
use std::time::Duration;
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

fn candidate(api: &sandbox::api::Server, name: &str) -> (watch::Receiver<bool>, CancellationToken) {
    let stop = CancellationToken::new();
    let (leads, _task) = Election::new("default", "pilothouse", name).start(api.client(), stop.clone());
    (leads, stop)
}

async fn takes_over(receiver: &mut watch::Receiver<bool>) -> Duration {
    let begun = Instant::now();
    tokio::time::timeout(Duration::from_secs(120), receiver.wait_for(|leads| *leads)).await.unwrap().unwrap();
    begun.elapsed()
}

async fn lease(api: &sandbox::api::Server) -> Lease {
    let leases: Api<Lease> = Api::namespaced(api.client(), "default");
    leases.list(&ListParams::default()).await.unwrap().items.remove(0)
}

#[tokio::test(start_paused = true)]
async fn one_leads_and_another_follows_quickly_when_it_lets_go() {
    let api = sandbox::api::Server::new();
    let (mut first, stop_first) = candidate(&api, "a");
    takes_over(&mut first).await;
    let (mut second, _stop) = candidate(&api, "b");
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(*first.borrow() && !*second.borrow());
    stop_first.cancel();
    first.wait_for(|leads| !*leads).await.unwrap();
    let waited = takes_over(&mut second).await;
    assert!(waited <= Duration::from_secs(3), "{waited:?}");
    let spec = lease(&api).await.spec.unwrap();
    assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("b"), Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_cannot_reach_the_api_stops_before_another_begins() {
    let api = sandbox::api::Server::new();
    let (mut first, _stop_first) = candidate(&api, "a");
    takes_over(&mut first).await;
    let (mut second, _stop) = candidate(&api, "b");
    tokio::time::sleep(Duration::from_secs(10)).await;
    api.faults().away_for(Duration::from_secs(60));
    let begun = Instant::now();
    first.wait_for(|leads| !*leads).await.unwrap();
    let gave_up = begun.elapsed();
    assert!(gave_up <= Duration::from_secs(13), "{gave_up:?}");
    assert!(!*second.borrow());
    tokio::select! {
        waited = takes_over(&mut second) => assert!(begun.elapsed() > gave_up, "{waited:?}"),
        waited = takes_over(&mut first) => assert!(begun.elapsed() > gave_up, "{waited:?}"),
    }
    assert!(!(*first.borrow() && *second.borrow()), "never both");
}

#[tokio::test(start_paused = true)]
async fn the_lease_of_a_process_that_died_runs_out() {
    let api = sandbox::api::Server::new();
    let (mut first, stop_first) = candidate(&api, "a");
    takes_over(&mut first).await;
    // Dead, so that nothing is let go: the lease is put back as it was.
    let leases: Api<Lease> = Api::namespaced(api.client(), "default");
    let held = lease(&api).await;
    stop_first.cancel();
    first.wait_for(|leads| !*leads).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut again = lease(&api).await;
    again.spec = held.spec;
    leases.replace("pilothouse", &kube::api::PostParams::default(), &again).await.unwrap();
    let (mut second, _stop) = candidate(&api, "b");
    let waited = takes_over(&mut second).await;
    assert!((14..=20).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn of_ten_candidates_exactly_one_leads() {
    let api = sandbox::api::Server::new();
    let all: Vec<_> = (0..10).map(|number| candidate(&api, &format!("c{number}"))).collect();
    tokio::time::sleep(Duration::from_secs(30)).await;
    for _ in 0..100 {
        assert_eq!(all.iter().filter(|(leads, _)| *leads.borrow()).count(), 1);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_comes_later_is_waited_for() {
    let api = sandbox::api::Server::new();
    let stop = CancellationToken::new();
    let (mut leads, _task) = Election::new("later", "pilothouse", "a").start(api.client(), stop.clone());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!*leads.borrow());
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(api.client());
    let later = serde_json::from_value(serde_json::json!({ "metadata": { "name": "later" } })).unwrap();
    namespaces.create(&kube::api::PostParams::default(), &later).await.unwrap();
    takes_over(&mut leads).await;
}
