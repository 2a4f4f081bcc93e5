//! `tern usage`: CDR files of any length, in steps, with what was not taken listed beside them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use domain::Timestamp;
use serde_json::json;

use crate::desk::{esim, latest};
use crate::harness::{Home, Org, Ran, World, wait};
use crate::money::events;
use crate::shop::{PLENTY, PT, iccid as profile, now, open, reseller, verify};

crate::on_both! {
    a_table_of_records_is_brought_and_brought_again,
    events_are_brought_as_lines_and_as_a_list,
    records_that_are_not_taken_are_listed_beside_the_file,
    records_come_through_a_pipe_and_from_several_files,
    an_import_that_was_killed_is_completed_by_the_next,
    mistakes_are_explained,
}

const GB: i64 = 1_000_000_000;

/// A file in the test's own folder; its path.
fn file(home: &Home, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = home.folder().join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn import(home: &Home, path: &str) -> Command {
    home.tern(&["usage", "import", path])
}

/// Words of each line, so that columns can be as wide as they like.
fn words(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

async fn remaining(world: &World, org: &Org, iccid: &str) -> i64 {
    latest(world, org, iccid, PT).await["remainingQuantity"].as_i64().expect("whole")
}

/// A reseller with an eSIM, and the time by its clock.
async fn traveller(world: &World) -> (Org, String, Timestamp) {
    let org = reseller(world, PLENTY).await;
    let iccid = esim(world, &org).await;
    let at = now(world, &org).await;
    (org, iccid, at)
}

fn rows(numbers: std::ops::Range<usize>, iccid: &str, at: Timestamp) -> String {
    let row = |n: usize| format!("r-{n},{iccid},{at},1000\n");
    numbers.map(row).collect()
}

fn event(id: &str, iccid: &str, at: Timestamp) -> String {
    json!({"specversion": "1.0", "id": id, "source": "https://cdr.example/node-3",
        "type": "tern.usage.data", "time": at.to_string(),
        "data": {"iccid": iccid, "bytes": 1_000, "country": "PT", "network": "PRTXX"}})
    .to_string()
}

async fn a_table_of_records_is_brought_and_brought_again(home: Home) {
    let world = open(home, 5).await;
    let (org, iccid, at) = traveller(&world).await;
    let text = format!("id,iccid,time,bytes\n{}", rows(0..1_234, &iccid, at));
    let path = file(&world.home, "cdr.csv", text);
    let ran = Ran::new(&mut import(&world.home, &path));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(words(&ran.stdout), ["accepted 1,234", "known 0", "rejected 0"]);
    assert!(!Path::new(&format!("{path}.rejected.csv")).exists());
    // The service knows it at once, and tells of it.
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 1_234_000);
    let told = events(&world, &org).await;
    assert_eq!(told.iter().filter(|(kind, _)| kind == "Utilisation").count(), 1_234);
    let before = world.home.dump().await;
    let again = Ran::new(import(&world.home, &path).arg("--json")).json();
    let wanted = json!({"accepted": 0, "known": 1_234, "rejected": 0, "rejectedFiles": []});
    assert_eq!(again, wanted);
    assert_eq!(world.home.dump().await, before);
    // The file's name is their source; under another one they are others.
    let mut other = import(&world.home, &path);
    let other = Ran::new(other.args(["--source", "node-4", "--json"])).json();
    assert_eq!((&other["accepted"], &other["known"]), (&json!(1_234), &json!(0)));
    let named = format!(
        "source,country,bytes,time,network,iccid,id\n\
         node-4,PT,1000,{at},PRTXX,{iccid},r-0\n,PT,1000,{at},PRTXX,{iccid},r-1\n\
         node-5,PT,1000,{at},PRTXX,{iccid},r-1\n"
    );
    let named = file(&world.home, "cdr.csv", named);
    let ran = Ran::new(import(&world.home, &named).arg("--json")).json();
    assert_eq!((&ran["accepted"], &ran["known"]), (&json!(1), &json!(2)));
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 2_469_000);
    let seen = world.get(&format!("/v2.5/esims/{iccid}/location"), &org.key).await.json_of(200);
    assert_eq!((&seen["country"], &seen["mobileNetworkCode"]), (&json!("PT"), &json!("PRTXX")));
    verify(&world);
}

async fn events_are_brought_as_lines_and_as_a_list(home: Home) {
    let world = open(home, 5).await;
    let (org, iccid, at) = traveller(&world).await;
    let of = |kind: &str, more: &str| {
        format!(
            "{{\"specversion\":\"1.0\",\"id\":\"{kind}\",\"source\":\"x\",\
             \"type\":\"tern.{kind}\",\"time\":\"{at}\",\"data\":{{\"iccid\":\"{iccid}\",{more}}}}}"
        )
    };
    let lines = [
        of("profile.progress", "\"status\":\"Installed\""),
        of("network.attach", "\"country\":\"PT\""),
        event("e-1", &iccid, at),
        String::new(),
        event("e-2", &iccid, at),
        event("e-1", &iccid, at),
    ];
    let path = file(&world.home, "cdr.jsonl", lines.join("\n"));
    let ran = Ran::new(import(&world.home, &path).arg("--json")).json();
    let wanted = json!({"accepted": 4, "known": 1, "rejected": 0, "rejectedFiles": []});
    assert_eq!(ran, wanted);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 2_000);
    let shown = world.get(&format!("/v2.5/esims/{iccid}"), &org.key).await.json_of(200);
    assert_eq!(shown["profileStatus"], "Installed");
    // The same records as they are sent to the service; its name does not say what it is.
    let batch = format!("[{},\n{}]\n", event("e-2", &iccid, at), event("e-3", &iccid, at));
    let path = file(&world.home, "batch", &batch);
    let ran = Ran::new(import(&world.home, &path).arg("--json")).json();
    assert_eq!((&ran["accepted"], &ran["known"]), (&json!(1), &json!(1)));
    let request = world.operator("POST", "/usage").header("Content-Type", "application/json");
    let told = world.node.send(&request.body(batch)).await.json_of(200);
    let verdicts = told["results"].as_array().expect("a list").iter();
    assert!(verdicts.into_iter().all(|one| one["verdict"] == "duplicate"), "{told}");
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 3_000);
    for nothing in ["", "\n", "[]"] {
        let path = file(&world.home, "none.jsonl", nothing);
        let ran = Ran::new(&mut import(&world.home, &path));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("There was no line to bring in"), "{ran:?}");
    }
}

async fn records_that_are_not_taken_are_listed_beside_the_file(home: Home) {
    let world = open(home, 5).await;
    let (org, iccid, at) = traveller(&world).await;
    let (free, late) = (profile(4), at.plus_ms(3_600_000));
    let text = format!(
        "id,iccid,time,bytes,country\nr-1,{iccid},{at},1000,PT\nr-2,{free},{at},1000,PT\n\
         r-3,{iccid},{late},1000,PT\nr-4,{iccid},{at},some,PT\nr-5,{iccid},{at},1000,ZZ\n\
         r-6,{iccid}\nr-7,{iccid},{at},1000,\n"
    );
    let path = file(&world.home, "cdr.csv", text);
    let list = format!("{path}.rejected.csv");
    let ran = Ran::new(&mut import(&world.home, &path));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(words(&ran.stdout), ["accepted 2", "known 0", "rejected 5"]);
    let bytes = "bytes must be a whole number from 1 to 1000000000000000";
    let width = "must have as many fields as there are columns";
    let wanted = format!(
        "line 3 ({free}): iccid is not known\n\
         line 4 ({iccid}): time is in the future\n\
         line 5 ({iccid}): {bytes}\n\
         line 6 ({iccid}): country is not known\n\
         line 7: {width}\n\
         5 of the lines were not taken; {list} lists them\n  next: mend them, then the same \
         command again; lines that are in already do no harm\n"
    );
    assert_eq!(ran.stderr, wanted);
    let listed = std::fs::read_to_string(&list).expect("a list");
    let wanted = format!(
        "line,iccid,why\n3,{free},\"iccid is not known\"\n4,{iccid},\"time is in the future\"\n\
         5,{iccid},\"{bytes}\"\n6,{iccid},\"country is not known\"\n7,,\"{width}\"\n"
    );
    assert_eq!(listed, wanted);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 2_000);
    let ran = Ran::new(import(&world.home, &path).arg("--json"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let wanted = json!({"accepted": 0, "known": 2, "rejected": 5, "rejectedFiles": [list]});
    assert_eq!(ran.json_of_any(), wanted);
    // Mended, it is whole, and the list goes.
    file(&world.home, "cdr.csv", format!("id,iccid,time,bytes\n{}", rows(1..8, &iccid, at)));
    let ran = Ran::new(import(&world.home, &path).arg("--json")).json();
    assert_eq!((&ran["accepted"], &ran["known"]), (&json!(5), &json!(2)));
    assert!(!Path::new(&list).exists());
    // In a list each is known by its place.
    let path = file(&world.home, "x.json", format!("[{},5]", event("e-1", &iccid, at)));
    let ran = Ran::new(&mut import(&world.home, &path));
    assert!(ran.stderr.starts_with("record 2: is no JSON object\n"), "{ran:?}");
}

async fn records_come_through_a_pipe_and_from_several_files(home: Home) {
    let world = open(home, 5).await;
    let (org, iccid, at) = traveller(&world).await;
    let text = format!("id,iccid,time,bytes\n{}x\n", rows(0..1_500, &iccid, at));
    let why = "next: say it with --source";
    Ran::with_input(&mut import(&world.home, "-"), &text).failed(1, why);
    let mut piped = import(&world.home, "-");
    let ran = Ran::with_input(piped.args(["--source", "node-3"]), &text);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(words(&ran.stdout), ["accepted 1,500", "known 0", "rejected 1"]);
    assert!(ran.stderr.contains("1 of the lines were not taken\n"), "there is no list: {ran:?}");
    let one = format!("id,iccid,time,bytes,source\nr-1,{iccid},{at},1000,node-3\nr-2\n");
    let one = file(&world.home, "one.csv", one);
    let two = file(&world.home, "two.jsonl", format!("{}\n5\n", event("e-1", &iccid, at)));
    let mut both = world.home.tern(&["usage", "import", &one, &two, "--json"]);
    let ran = Ran::new(&mut both);
    assert!(ran.stderr.contains(&format!("{one}: line 3: must have as many")), "{ran:?}");
    assert!(ran.stderr.contains(&format!("{two}: line 2: is no JSON object")), "{ran:?}");
    let lists = [&one, &two].map(|path| format!("{path}.rejected.csv"));
    let wanted = json!({"accepted": 1, "known": 1, "rejected": 2, "rejectedFiles": lists});
    assert_eq!(ran.json_of_any(), wanted);
    assert_eq!(remaining(&world, &org, &iccid).await, GB - 1_501_000);
    verify(&world);
}

/// Killed when some are in, and given again.
async fn an_import_that_was_killed_is_completed_by_the_next(home: Home) {
    let world = open(home, 5).await;
    let (org, iccid, at) = traveller(&world).await;
    let text = format!("id,iccid,time,bytes\n{}", rows(0..5_000, &iccid, at));
    let path = file(&world.home, "cdr.csv", text);
    let mut killed = import(&world.home, &path);
    let mut killed = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    let count = async || (GB - remaining(&world, &org, &iccid).await) / 1_000;
    wait::until("some are in", Duration::from_secs(20), async || {
        Some(count().await).filter(|count| *count > 0)
    })
    .await;
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    let done = count().await;
    let ran = Ran::new(import(&world.home, &path).arg("--json")).json();
    assert_eq!((&ran["accepted"], &ran["known"]), (&json!(5_000 - done), &json!(done)));
    assert_eq!(count().await, 5_000);
    verify(&world);
}

async fn mistakes_are_explained(home: Home) {
    let good = file(&home, "good.csv", "id,iccid,time,bytes\n");
    Ran::new(&mut import(&home, &good)).failed(1, "there is no database here yet");
    assert!(!home.data().exists());
    let world = World::start(home).await;
    let home = &world.home;
    let before = home.dump().await;
    let next = "next: begin the file with the line id,iccid,time,bytes";
    for (path, why) in [
        (home.folder().join("nothing.csv").display().to_string(), "next: check the path"),
        (file(home, "empty.csv", ""), next),
        (file(home, "columns.csv", "id,iccid\n1,2\n"), "no column time and no column bytes"),
        (file(home, "semicolons.csv", "id;iccid;time;bytes\n"), "separated by commas"),
        (file(home, "json.csv", "[]"), next),
    ] {
        Ran::new(&mut import(home, &path)).failed(1, why);
        // One that cannot be read keeps the others from being begun.
        Ran::new(import(home, &good).args([&path, "--json"])).failed(1, why);
    }
    for args in [vec!["usage"], vec!["usage", "import"], vec!["usage", "import", "--source", "x"]] {
        Ran::new(&mut home.tern(&args)).failed(2, "--help");
    }
    assert_eq!(home.dump().await, before);
}
