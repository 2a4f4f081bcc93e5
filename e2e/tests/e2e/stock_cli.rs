//! `tern stock`: files of any length, in steps, with what was not taken listed beside them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::harness::{Home, Ran, World, binary, wait};
use crate::sealed::{spellings, stolen};
use crate::shop::iccid;
use crate::stock::free;

crate::on_both! {
    a_file_of_profiles_is_brought_and_brought_again,
    lines_that_are_not_taken_are_listed_beside_the_file,
    profiles_come_through_a_pipe_too,
    an_import_that_was_killed_is_completed_by_the_next,
    mistakes_are_explained,
}

const HEAD: &str = "iccid,matchingId,smdpAddress,pin,puk,msisdn,imsi,profileName\n";

/// What installs and unlocks a profile.
const SECRETS: [&str; 4] = ["QWXZV-7RMXD-W4TZN-90HLC", "80917263", "73645182", "234109876543217"];

fn lines(numbers: std::ops::Range<usize>) -> String {
    let line = |n: usize| format!("{},CLI0-{n},rsp.example,,,,,\n", iccid(n));
    numbers.map(line).collect()
}

/// A file in the test's own folder; its path.
fn file(home: &Home, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = home.folder().join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

fn import(home: &Home, path: &str) -> Command {
    home.tern(&["stock", "import", path, "--sandbox"])
}

/// Words of each line, so that columns can be as wide as they like.
fn words(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

async fn a_file_of_profiles_is_brought_and_brought_again(home: Home) {
    let world = World::start(home).await;
    let none = Ran::new(&mut world.home.tern(&["stock", "show"]));
    assert!(none.stdout.starts_with("no free profiles\n  next: tern stock import"), "{none:?}");
    assert_eq!(world.home.tern_json(&["stock", "show"]), json!({"stock": []}));
    let path = file(&world.home, "stock.csv", format!("{HEAD}{}", lines(0..1_234)));
    let ran = Ran::new(&mut import(&world.home, &path));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(words(&ran.stdout), ["added 1,234", "known 0", "rejected 0"]);
    assert!(!Path::new(&format!("{path}.rejected.csv")).exists());
    // The service has them at once.
    let all = [("sandbox".to_owned(), "Profile 1".to_owned(), 1_234)];
    assert_eq!(free(&world).await, all);
    let before = world.home.dump().await;
    let again = Ran::new(import(&world.home, &path).arg("--json")).json();
    let wanted = json!({"added": 0, "known": 1_234, "rejected": 0, "rejectedFile": null});
    assert_eq!(again, wanted);
    assert_eq!(world.home.dump().await, before);
    let live = format!("{HEAD}{},K-1,rsp.example,,,,,Gold\n", iccid(9_999));
    let live = file(&world.home, "live.csv", live);
    let done = world.home.tern_json(&["stock", "import", &live, "--live"]);
    assert_eq!(done["added"], 1);
    let ran = Ran::new(&mut world.home.tern(&["stock", "show"]));
    assert_eq!(words(&ran.stdout), ["MODE FREE PROFILE", "live 1 Gold", "sandbox 1,234 Profile 1"]);
    let shown = json!({"stock": [
        {"mode": "live", "profileName": "Gold", "free": 1},
        {"mode": "sandbox", "profileName": "Profile 1", "free": 1_234},
    ]});
    assert_eq!(world.home.tern_json(&["stock", "show"]), shown);
    assert_eq!(world.show("/stock").await, shown);
    let page = world.show("/audit?limit=1000").await;
    let acts = page["entries"].as_array().expect("a list").iter();
    let acts = acts.filter(|entry| entry["action"] == "stock.import");
    let acts: Vec<_> = acts.map(|entry| json!([entry["actor"], entry["detail"]])).collect();
    // In steps of a thousand, newest first.
    let wanted = json!([["cli", "1 profiles"], ["cli", "234 profiles"], ["cli", "1000 profiles"]]);
    assert_eq!(json!(acts), wanted);
}

async fn lines_that_are_not_taken_are_listed_beside_the_file(home: Home) {
    let world = World::start(home).await;
    let wrong =
        format!("{}{}", &iccid(5)[..18], (iccid(5)[18..].parse::<u8>().expect("1") + 1) % 10);
    let [code, pin, puk, imsi] = SECRETS;
    for secret in SECRETS {
        world.is_secret(secret);
    }
    let [one, two, six, seven, eight] = [1, 2, 6, 7, 8].map(iccid);
    // A good line, a wrong digit, fields in the wrong place, too few, too many, a good one.
    let text = format!(
        "{HEAD}{one},K-1,rsp.example,{pin},{puk},,{imsi},\n\
         {wrong},{code},rsp.example,{pin},{puk},,{imsi},\n\
         {code},{six},rsp.example,{pin},{puk},,{imsi},\n\
         {imsi},{code}\n\
         {seven},{code},rsp.example,{pin}1,{puk},,{imsi},\n\
         {eight},{code},rsp.example,{pin},{puk},,{imsi},,\n\
         {two},K-2,rsp.example,{pin},{puk},,{imsi},\n",
    );
    let path = file(&world.home, "stock.csv", text);
    let list = format!("{path}.rejected.csv");
    // One of an earlier time that everybody could read.
    std::fs::write(&list, "old").expect("written");
    let ran = Ran::new(&mut import(&world.home, &path));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(words(&ran.stdout), ["added 2", "known 0", "rejected 5"]);
    let width = "must have as many fields as there are columns";
    let wanted = format!(
        "line 3 ({wrong}): iccid has a wrong check digit\n\
         line 4: iccid must be 18 to 20 digits\n\
         line 5: {width}\n\
         line 6 ({seven}): pin must be 4 to 8 digits\n\
         line 7: {width}\n\
         5 of the lines were not taken; {list} lists them\n  next: mend them, then the same \
         command again; lines that are in already do no harm\n"
    );
    assert_eq!(ran.stderr, wanted);
    let listed = std::fs::read_to_string(&list).expect("a list");
    let wanted = format!(
        "line,iccid,why\n\
         3,{wrong},\"iccid has a wrong check digit\"\n\
         4,,\"iccid must be 18 to 20 digits\"\n\
         5,,\"{width}\"\n\
         6,{seven},\"pin must be 4 to 8 digits\"\n\
         7,,\"{width}\"\n"
    );
    assert_eq!(listed, wanted);
    let mode = std::fs::metadata(&list).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
    let stolen = stolen(&world.home).await;
    for secret in SECRETS {
        assert!(!format!("{}{}{listed}", ran.stdout, ran.stderr).contains(secret), "{ran:?}");
        for spelling in spellings(secret) {
            assert!(stolen.iter().all(|(_, all)| !all.contains(&spelling)), "{spelling}");
        }
    }
    let ran = Ran::new(import(&world.home, &path).arg("--json"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let wanted = json!({"added": 0, "known": 2, "rejected": 5, "rejectedFile": list});
    assert_eq!(ran.json_of_any(), wanted);
    the_list_goes_when_all_is_mended(&world, &list);
}

fn the_list_goes_when_all_is_mended(world: &World, list: &str) {
    let path = file(&world.home, "stock.csv", format!("{HEAD}{}", lines(1..4)));
    let ran = Ran::new(import(&world.home, &path).arg("--json")).json();
    assert_eq!(ran, json!({"added": 1, "known": 2, "rejected": 0, "rejectedFile": null}));
    assert!(!Path::new(list).exists());
    // Of many only the first are shown, and all are listed.
    let path = file(&world.home, "many.csv", format!("{HEAD}{}", "x\n".repeat(2_500)));
    let ran = Ran::new(&mut import(&world.home, &path));
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.stderr.lines().filter(|line| line.starts_with("line ")).count(), 20);
    assert!(
        ran.stderr.contains("… more lines are counted, not shown\n2,500 of the lines"),
        "{ran:?}"
    );
    let listed = std::fs::read_to_string(format!("{path}.rejected.csv")).expect("a list");
    assert_eq!(listed.lines().count(), 2_501);
}

async fn profiles_come_through_a_pipe_too(home: Home) {
    let world = World::start(home).await;
    let folder = || std::fs::read_dir(world.home.folder()).expect("a folder").count();
    let before = folder();
    let text = format!("{HEAD}{}x\n", lines(0..1_500));
    let ran = Ran::with_input(&mut import(&world.home, "-"), &text);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(words(&ran.stdout), ["added 1,500", "known 0", "rejected 1"]);
    assert!(ran.stderr.starts_with("line 1502: must have as many fields"), "{ran:?}");
    assert!(ran.stderr.contains("1 of the lines were not taken\n"), "there is no list: {ran:?}");
    let ran = Ran::with_input(import(&world.home, "-").arg("--json"), &text);
    let wanted = json!({"added": 0, "known": 1_500, "rejected": 1, "rejectedFile": null});
    assert_eq!(ran.json_of_any(), wanted);
    let ran = Ran::with_input(&mut import(&world.home, "-"), HEAD);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("There was no line to bring in"), "{ran:?}");
    assert_eq!(folder(), before, "nothing is written beside a pipe");
}

/// Twenty thousand lines; killed when some are in, and given again.
async fn an_import_that_was_killed_is_completed_by_the_next(home: Home) {
    let world = World::start(home).await;
    let path = file(&world.home, "stock.csv", format!("{HEAD}{}", lines(0..20_000)));
    let mut killed = import(&world.home, &path);
    let mut killed = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    let count = async || free(&world).await.first().map_or(0, |(_, _, count)| *count);
    let seen = wait::until("some lines are in", Duration::from_secs(20), async || {
        Some(count().await).filter(|count| *count > 0)
    })
    .await;
    killed.kill().expect("it runs");
    let status = killed.wait().expect("it ends");
    assert!(!status.success(), "killed before it could end, after {seen} lines");
    let done = count().await;
    assert!((seen..20_000).contains(&done) && done % 1_000 == 0, "whole steps only: {done}");
    let (ran, took) =
        wait::timed(async { Ran::new(import(&world.home, &path).arg("--json")).json() }).await;
    let wanted = json!({
        "added": 20_000 - done, "known": done, "rejected": 0, "rejectedFile": null,
    });
    assert_eq!(ran, wanted);
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!(count().await, 20_000);
}

async fn mistakes_are_explained(home: Home) {
    let good = file(&home, "good.csv", format!("{HEAD}{}", lines(0..3)));
    Ran::new(&mut import(&home, &good)).failed(1, "there is no database here yet");
    Ran::new(&mut home.tern(&["stock", "show"])).failed(1, "there is no database here yet");
    assert!(!home.data().exists());
    let world = World::start(home).await;
    let home = &world.home;
    let before = home.dump().await;
    let next = "next: begin the file with the line iccid,matchingId,smdpAddress";
    for (path, why) in [
        (home.folder().join("nothing.csv").display().to_string(), "next: check the path"),
        (file(home, "empty.csv", ""), next),
        (file(home, "columns.csv", "iccid,pin\n1,2\n"), "there is no column matchingId"),
        (file(home, "semicolons.csv", "iccid;matchingId;smdpAddress\n"), "separated by commas"),
        (file(home, "json.csv", "{\"profiles\":[]}"), next),
    ] {
        Ran::new(&mut import(home, &path)).failed(1, why);
        Ran::new(import(home, &path).arg("--json")).failed(1, why);
    }
    for args in [
        vec!["stock"],
        vec!["stock", "import", &good],
        vec!["stock", "import", "--live"],
        vec!["stock", "import", &good, "--live", "--sandbox"],
        vec!["stock", "import", &good, "--mode", "live"],
    ] {
        Ran::new(&mut home.tern(&args)).failed(2, "--help");
    }
    assert_eq!(home.dump().await, before);
}

/// Who waits at a terminal sees how far it is; a pipe is left in peace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_shown_on_a_terminal() {
    let world = World::start(Home::sqlite()).await;
    let path = file(&world.home, "stock.csv", format!("{HEAD}{}x\n", lines(0..5_000)));
    let line = format!(
        "{} stock import {path} --sandbox --data {} >{path}.out",
        binary::path().display(),
        world.home.data().display()
    );
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]);
    let ran = Ran::new(&mut script);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains(" lines  ") && ran.stdout.contains(" %  "), "{ran:?}");
    assert!(ran.stdout.contains("1 of the lines were not taken"), "{ran:?}");
    let told = std::fs::read_to_string(format!("{path}.out")).expect("the output");
    assert_eq!(words(&told), ["added 5,000", "known 0", "rejected 1"]);
}
