//! A table of filters against one row.

use super::super::model_test::Row;
use super::super::parse;

fn row() -> Row {
    let mut row = Row::default();
    for (field, values) in [
        ("name", &["minecraft-12"][..]),
        ("ns", &["prod"]),
        ("set", &["minecraft"]),
        ("family", &["kruise"]),
        ("state", &["Ready"]),
        ("ops", &["None"]),
        ("image", &["registry:5000/game:1.12.2", "sidecar:7"]),
        ("container", &["game", "sidecar"]),
        ("node", &["node-3"]),
        ("rev", &["abc"]),
        ("network", &["Kubernetes-HostPort", "Ready"]),
        ("ip", &["10.0.0.7"]),
        ("label.zone", &["8001"]),
        ("sq.room", &["True", "idle"]),
        ("cond.PodNormal", &["False", "ContainerTerminated:Error"]),
    ] {
        row.texts.insert(field, values.iter().map(|value| (*value).to_owned()).collect());
    }
    row.numbers.extend([("id", 12), ("restarts", 0), ("dp", -3), ("age", 7_300)]);
    row
}

#[test]
fn filters_against_a_row() {
    for (filter, wanted) in [
        ("", true),
        ("mine", true),
        ("MINE*", true),
        ("*-12", true),
        ("craft*", false),
        ("-mine", false),
        ("name:minecraft-12", true),
        ("name:prod/minecraft-12", true),
        ("name:kruise/prod/minecraft-12,x", true),
        ("name:live/minecraft-12", false),
        ("prod/mine", true),
        ("set:minecraft state:ready ops!=Allocated id:0-499 label.zone:8001 image~1.12 -players>0", true),
        ("set:prod/minecraft", true),
        ("set:PROD/Minecraft", true),
        ("set:kruise/prod/minecraft", true),
        ("set:agones/prod/minecraft", false),
        ("set:live/minecraft", false),
        ("set:a/kruise/prod/minecraft", false),
        ("set~prod/*craft", true),
        ("set~mine", true),
        ("set:", false),
        ("image:registry:5000/game:1.12.2", true),
        ("image:SIDECAR:7", true),
        ("image:game:1.12.2", false),
        ("image!=sidecar:7", false),
        ("image~*:7", true),
        ("container:sidecar", true),
        ("container:game,x", true),
        ("node:", false),
        ("node!=", true),
        ("label.zone!=", true),
        ("label.other:", true),
        ("label.other!=", false),
        ("label.other~*", true),
        ("label.Zone:", true),
        ("label.zone>8000", true),
        ("label.zone>8000.5", true),
        ("label.zone<9", false),
        ("label.other<5", false),
        ("label.other<z", false),
        ("sq.room:idle", true),
        ("sq.ROOM:true", true),
        ("sq.room:", false),
        ("sq.none:", true),
        ("sq.room>5", false),
        ("cond.podnormal:False", true),
        ("cond.PodNormal~terminated", true),
        ("network:Ready", true),
        ("network~hostport", true),
        ("ip~10.0.", true),
        ("rev:abc", true),
        ("id:12", true),
        ("id:0-11,13-20", false),
        ("id:10-", true),
        ("id:13-", false),
        ("age:1h-", true),
        ("age:1d-", false),
        ("id~2", true),
        ("dp:-5--1", true),
        ("dp>-4", true),
        ("up:", true),
        ("players:", true),
        ("players:0", false),
        ("players<5", false),
        ("players!=0", true),
        ("restarts<=0", true),
        ("age>2h", true),
        ("age>3h", false),
        ("age:2h", true),
        ("age:1h", false),
        ("age:120m", false),
        ("age:30m-2h", true),
        ("age!=2h", false),
        ("name>minecraft-9", true),
        ("name<minecraft-9", false),
        ("state:Crash or id:12", true),
        ("state:Crash id:12 or ops:None", true),
        ("state:Crash (id:12 or ops:None)", false),
        ("not (state:Crash or ops:Kill)", true),
    ] {
        assert_eq!(parse(filter).unwrap().matches(&row()), wanted, "{filter}");
    }
}

#[test]
fn a_row_without_anything_has_empty_values() {
    for (filter, wanted) in [
        ("set:", true),
        ("set:/", false),
        ("set!=minecraft", true),
        ("image:", true),
        ("image!=x", true),
        ("network:", true),
        ("ip:", true),
        ("id:", true),
        ("id:0", false),
        ("age:", true),
        ("age>0s", false),
        ("state:Ready,\"\"", true),
    ] {
        assert_eq!(parse(filter).unwrap().matches(&Row::default()), wanted, "{filter}");
    }
}
