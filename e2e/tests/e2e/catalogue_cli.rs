//! `tern catalogue import` and `tern catalogue preview`, beside a running service.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::catalogue::names;
use crate::catalogue_import::{all_counts, bundle, counts};
use crate::harness::{Home, Ran, World};
use crate::shop::{self, PT};

crate::on_both! {
    a_catalogue_is_brought_and_brought_again,
    several_files_are_one_catalogue,
    faults_are_listed_and_nothing_is_changed,
    mistakes_are_explained,
}

/// A file in the test's own folder; its path.
fn file(home: &Home, name: &str, text: impl AsRef<[u8]>) -> String {
    let path: PathBuf = home.folder().join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

/// A run for people, which must succeed: what it prints, and what it notes for those who wait.
fn told(home: &Home, args: &[&str]) -> (String, String) {
    let ran = Ran::new(&mut home.tern(args));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}'), "no colours: {ran:?}");
    (ran.stdout, ran.stderr)
}

async fn a_catalogue_is_brought_and_brought_again(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Reseller").await;
    let path = file(&world.home, "catalogue.json", shop::catalogue().to_string());
    let empty = world.home.dump().await;
    let (stdout, stderr) = told(&world.home, &["catalogue", "preview", &path]);
    assert_eq!(stderr, "read     1 file, 31 rows\nchecked  no faults, 37 changes to make\n");
    let lines: Vec<_> = stdout.lines().collect();
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cells(lines[0]), ["PART", "NEW", "CHANGED", "SAME", "GONE"]);
    assert_eq!(cells(lines[1]), ["bundles", "13", "0", "0", "0"]);
    assert!(stdout.contains(&format!("bundle {} is new", PT.name)), "{stdout}");
    assert!(stdout.contains("Nothing was changed: this is a preview of 37 changes."), "{stdout}");
    let seen = world.home.tern_json(&["catalogue", "preview", &path]);
    assert_eq!((&seen["applied"], counts(&seen, "bundles")), (&json!(false), [13, 0, 0, 0]));
    assert_eq!(world.home.dump().await, empty);

    let (stdout, stderr) = told(&world.home, &["catalogue", "import", &path]);
    assert!(stdout.ends_with("Done: 37 changes.\n"), "{stdout}");
    assert!(stderr.ends_with("37 changes to make\nwritten\n"), "{stderr}");
    let full = world.home.dump().await;
    assert_ne!(full, empty);
    // A second time there is nothing to do, and it is said.
    let (stdout, _) = told(&world.home, &["catalogue", "import", &path]);
    assert!(stdout.ends_with("Nothing changes: all is as the files say.\n"), "{stdout}");
    let again = world.home.tern_json(&["catalogue", "import", &path]);
    assert_eq!(again["applied"], json!(true));
    assert_eq!(counts(&again, "bundles"), [0, 0, 13, 0]);
    assert_eq!(again["examples"], json!([]));
    // The service says of it the same as the command line.
    let by_service = world.order("POST", "/catalogue", &shop::catalogue()).await.json_of(200);
    assert_eq!(by_service, again);
    assert_eq!(world.home.dump().await, full);

    let rows = format!("bundle,currency,price\n{},USD,245\n", PT.name);
    let prices = file(&world.home, "prices.csv", rows);
    let (stdout, stderr) = told(&world.home, &["catalogue", "import", &prices]);
    assert!(stdout.ends_with("Done: 1 change.\n"), "{stdout}");
    assert!(stdout.contains(&format!("price of {}: 240 → 245 USD", PT.name)), "{stdout}");
    assert!(stderr.contains("no faults, 1 change to make"), "{stderr}");
    let entries = world.show("/audit?limit=1000").await;
    let of_import = |entry: &&Value| entry["action"] == "catalogue.import";
    let entries = entries["entries"].as_array().expect("a list").iter().filter(of_import);
    let actors: Vec<_> = entries.map(|entry| entry["actor"].clone()).collect();
    assert_eq!(actors, ["cli", "cli"], "only what changed something is an act");
    assert_eq!(names(&world, &org, "/v2.5", "").await.len(), 12);
}

async fn several_files_are_one_catalogue(home: Home) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Reseller").await;
    // Each refers to another; a mark of the encoding and blanks before JSON do no harm.
    let json =
        "\u{feff}\n {\"countries\":[{\"iso\":\"Moon\",\"name\":\"Moon\",\"region\":\"Global\"}]}";
    let countries = file(&world.home, "countries.json", json);
    let rows = "name,description,countries,dataAmount,duration,price:USD\nesim_a,A,Moon,1,1,5\n";
    let bundles = file(&world.home, "bundles.csv", rows);
    let prices = "list,bundle,currency,price\nPartner,esim_a,USD,4\n";
    let prices = file(&world.home, "prices.csv", prices);
    let files = [prices.as_str(), &bundles, &countries];
    let (_, stderr) = told(&world.home, &[&["catalogue", "preview"][..], &files[..]].concat());
    assert!(stderr.starts_with("read     3 files, 4 rows\n"), "{stderr}");
    let done = world.home.tern_json(&[&["catalogue", "import"][..], &files[..]].concat());
    let new = |count: i64| [count, 0, 0, 0];
    assert_eq!(all_counts(&done), [new(1), new(1), new(0), new(0), new(2), new(0)], "{done}");

    // One wrong file, and none is taken.
    let before = world.home.dump().await;
    let more = file(&world.home, "more.csv", rows.replace("esim_a", "esim_b"));
    let wrong = file(&world.home, "wrong.csv", "iso,name,region\nMars,Mars,Nowhere\n");
    let twice = file(&world.home, "twice.json", json!({"bundles": [bundle("esim_b")]}).to_string());
    for (files, places) in [
        ([&more, &wrong], vec![format!("{wrong} line 2: region must be one of")]),
        ([&more, &twice], vec![format!("{twice} bundles[0]: bundle esim_b stands twice")]),
    ] {
        let args = ["catalogue", "import", files[0], files[1]];
        let ran = Ran::new(&mut world.home.tern(&args));
        ran.failed(1, "nothing was changed: ");
        for place in places {
            assert!(ran.stderr.contains(&place), "{place}: {ran:?}");
        }
    }
    assert_eq!(world.home.dump().await, before);

    let import = ["catalogue", "import", &more, "--withdraw-others"];
    let done = world.home.tern_json(&import);
    assert_eq!(counts(&done, "bundles"), [1, 0, 0, 1], "{done}");
    let seen = async || (names(&world, &org, "/v2.5", "").await == ["esim_b"]).then_some(());
    crate::harness::wait::until("it is seen", std::time::Duration::from_secs(1), seen).await;
}

async fn faults_are_listed_and_nothing_is_changed(home: Home) {
    let world = shop::open(home, 0).await;
    let before = world.home.dump().await;
    let mut draft = shop::catalogue();
    draft["bundles"][6]["countries"] = json!(["ZZ"]);
    draft["bundles"][9]["duration"] = json!(0);
    let path = file(&world.home, "faulty.json", draft.to_string());
    let by_service = world.order("POST", "/catalogue", &draft).await.expect(400).json();
    let one = file(&world.home, "one.csv", "iso,name,region\nPT,Portugal,Europa\n");
    let many = format!("iso,name,region\n{}", "X,x,y\n".repeat(2_000));
    let many = file(&world.home, "many.csv", many);
    for command in ["import", "preview"] {
        let ran = Ran::new(&mut world.home.tern(&["catalogue", command, &path]));
        ran.failed(1, "nothing was changed: 2 faults\n");
        for line in
            ["bundles[6]: unknown country: ZZ\n", "bundles[9]: duration must be 1 to 3650\n"]
        {
            assert!(ran.stderr.contains(line), "{line}: {ran:?}");
        }
        assert!(ran.stderr.contains("next: mend the places above"), "{ran:?}");
        // For programs the same as the service says.
        let ran = Ran::new(world.home.tern(&["catalogue", command, &path]).arg("--json"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(ran.json_of_any(), by_service);
        Ran::new(&mut world.home.tern(&["catalogue", command, &one]))
            .failed(1, "changed: 1 fault\n");
        let ran = Ran::new(&mut world.home.tern(&["catalogue", command, &many]));
        ran.failed(1, "nothing was changed: 1,000 faults or more\n");
        assert!(ran.stderr.contains("… and 950 more\n"), "{ran:?}");
        assert!(ran.stderr.lines().count() < 60, "nobody reads a thousand lines");
    }
    assert_eq!(world.home.dump().await, before);
}

async fn mistakes_are_explained(home: Home) {
    let good = file(&home, "good.json", shop::catalogue().to_string());
    // Before there is a database, none is made.
    for command in ["import", "preview"] {
        let ran = Ran::new(&mut home.tern(&["catalogue", command, &good]));
        ran.failed(1, "there is no database here yet");
    }
    assert!(!home.data().exists());
    let world = World::start(home).await;
    let before = world.home.dump().await;
    let home = &world.home;
    let nothing = home.folder().join("nothing.json").display().to_string();
    let folder = home.folder().display().to_string();
    let cases = [
        (nothing, "next: check the path"),
        (folder, "next: check the path"),
        (file(home, "empty.csv", ""), "is empty"),
        (file(home, "blank.json", " \n\n"), "is empty"),
        (file(home, "cut.json", "{\"bundles\":["), "cannot be read as JSON: ends too early"),
        (file(home, "list.json", "[]"), "the columns are of no kind that is known"),
        (file(home, "bytes.csv", b"\xff\xfe\0\0"), "line 1: is not UTF-8"),
        (file(home, "semicolons.csv", "name;desc\n"), "must be separated by commas"),
    ];
    for (path, why) in &cases {
        // The good file beside it is not taken either.
        for args in [vec!["catalogue", "import", path], vec!["catalogue", "import", &good, path]] {
            let ran = Ran::new(&mut home.tern(&args));
            ran.failed(1, why);
            assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        }
    }
    for args in [
        vec!["catalogue"],
        vec!["catalogue", "import"],
        vec!["catalogue", "fly", &good],
        vec!["catalogue", "import", &good, "--withdraw"],
    ] {
        Ran::new(&mut home.tern(&args)).failed(2, "--help");
    }
    assert_eq!(home.dump().await, before);
}
