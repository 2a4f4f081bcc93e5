//! Install data of orders and applies: CSV, JSON and pictures, chosen, ordered and refused as the
//! contract says.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use crate::desk::{
    alike, apply_reference, apply_to_one, deactivate, esim, phone, put_on, since, stock_up, text,
};
use crate::harness::{Answer, Home, Org, Request, World};
use crate::money::{prefixes, settle};
use crate::pictures::{scanned, unzip};
use crate::shop::{
    FR, PLENTY, PT, buy, hold, iccid, iccids, into_inventory, matching_id, onto, onto_new, open,
    reference, reseller,
};

crate::on_both! {
    the_form_is_the_one_that_is_liked_best,
    a_table_has_the_columns_that_are_asked_for,
    rows_follow_the_references_as_they_are_given,
    a_reference_of_any_version_is_known_to_all,
    an_archive_holds_a_picture_of_each_esim,
    a_picture_says_how_to_install_the_esim,
    json_tells_what_the_version_knows,
    a_reference_that_is_none_is_refused,
    an_order_that_is_processed_must_be_waited_for,
    dead_esims_are_left_out,
    a_large_order_comes_whole,
}

const HEADINGS: &str = "ICCID,Matching ID,RSP URL,Bundle,Reference";

fn ask(org: &Org, prefix: &str, references: &[&str], accept: &str) -> Request {
    let query: Vec<_> = references.iter().map(|one| format!("reference={one}")).collect();
    let target = format!("{prefix}/esims/assignments?{}", query.join("&"));
    let request = Request::get(&target).key(&org.key);
    if accept.is_empty() { request } else { request.header("Accept", accept) }
}

/// The old ways to the same, by reference.
fn old(org: &Org, prefix: &str, kind: &str, reference: &str) -> Request {
    let target = format!("{prefix}/esims/{kind}/{reference}");
    Request::get(&target).key(&org.key).header("Accept", "application/json")
}

/// A line of the table.
fn line(number: usize, bundle: &str, reference: &str) -> String {
    format!("{},{},rsp.example,{bundle},{reference}\n", iccid(number), matching_id(number))
}

fn table(lines: &[String]) -> String {
    format!("{HEADINGS}\n{}", lines.concat())
}

#[track_caller]
fn kind(answer: &Answer) -> &str {
    assert_eq!(answer.status, 200, "{}", answer.status);
    answer.header("content-type").expect("a type")
}

async fn the_form_is_the_one_that_is_liked_best(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await);
    for (_, prefix) in since("v2.2") {
        for (accept, wanted) in [
            ("", "text/csv"),
            ("*/*", "text/csv"),
            ("text/csv", "text/csv"),
            ("application/json", "application/json"),
            ("APPLICATION/JSON", "application/json"),
            ("application/zip", "application/zip"),
            ("image/png", "text/csv"),
            ("text/html,application/xhtml+xml,*/*;q=0.8", "text/csv"),
            ("application/json, text/plain, */*", "application/json"),
            ("text/csv;q=0.5, application/zip;q=0.9", "application/zip"),
            ("application/zip;q=0.5, application/json;q=0.5", "application/zip"),
            ("*/*;q=1, application/json;q=0.1", "application/json"),
            ("text/csv; q=0.1 , application/json; q=0.2", "application/json"),
            ("application/json;q=0", "text/csv"),
            ("nonsense", "text/csv"),
        ] {
            let answer = world.node.send(&ask(&org, prefix, &[&own], accept)).await;
            assert_eq!(kind(&answer), wanted, "{prefix} {accept}");
            let name = answer.header("content-disposition");
            let zip = format!("attachment; filename=\"{own}.zip\"");
            let named = (wanted == "application/zip").then_some(zip);
            assert_eq!(name, named.as_deref(), "{prefix} {accept}");
        }
        for (old_kind, wanted) in [("qr", "application/zip"), ("csv", "text/csv")] {
            let answer = world.node.send(&old(&org, prefix, old_kind, &own)).await;
            assert_eq!(kind(&answer), wanted, "whatever Accept says: {prefix}");
        }
    }
}

async fn a_table_has_the_columns_that_are_asked_for(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await);
    let url = |who: &str| {
        let code = matching_id(1);
        format!(
            "https://esimsetup.{who}.com/esim_qrcode_provisioning?carddata=LPA:1$rsp.example${code}"
        )
    };
    let plain = line(1, PT.name, &own);
    let plain = plain.trim_end();
    let apple = (",Apple Install URL".to_owned(), format!(",{}", url("apple")));
    let both =
        (format!("{},Android Install URL", apple.0), format!("{},{}", apple.1, url("android")));
    let none = (String::new(), String::new());
    for (_, prefix) in since("v2.1") {
        for (query, (heads, cells)) in [
            ("", &none),
            ("additionalFields=appleInstallUrl", &apple),
            ("additionalFields=installUrl", &both),
            ("additionalFields=appleInstallUrl,installUrl", &both),
            ("additionalFields=x&additionalFields=appleInstallUrl", &apple),
            ("additionalFields=x", &none),
        ] {
            let wanted = format!("{HEADINGS}{heads}\n{plain}{cells}\n");
            let mut targets = vec![format!("{prefix}/esims/csv/{own}?{query}")];
            if prefix >= "/v2.2" {
                targets.push(format!("{prefix}/esims/assignments?reference={own}&{query}"));
            }
            for target in targets {
                let answer = world.get(&target, &org.key).await;
                assert_eq!(
                    (kind(&answer), answer.text()),
                    ("text/csv", wanted.clone()),
                    "{target}"
                );
            }
        }
    }
}

async fn rows_follow_the_references_as_they_are_given(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let first = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 2), (FR, 1)])).await);
    stock_up(&world, &org, &[(FR, 2)]).await;
    let answer = put_on(&world, &org, "/v2.3", &json!({"bundles": [FR.name, FR.name]})).await;
    let second = apply_reference(&answer);
    let of_first = [line(1, PT.name, &first), line(2, PT.name, &first), line(3, FR.name, &first)];
    let of_second = [line(4, FR.name, &second), line(5, FR.name, &second)];
    let (one, two) = (format!("{first}-1"), format!("{second}-0"));
    for (_, prefix) in since("v2.2") {
        for (references, wanted) in [
            (vec![first.as_str()], of_first.to_vec()),
            (vec![&first, &second], [&of_first[..], &of_second[..]].concat()),
            (vec![&second, &first], [&of_second[..], &of_first[..]].concat()),
            (vec![&one], vec![of_first[1].clone()]),
            (vec![&two, &one], vec![of_second[0].clone(), of_first[1].clone()]),
            (
                vec![&one, &second, &two],
                [&of_first[1..2], &of_second[..], &of_second[..1]].concat(),
            ),
        ] {
            let answer = world.node.send(&ask(&org, prefix, &references, "text/csv")).await;
            assert_eq!(answer.text(), table(&wanted), "{prefix} {references:?}");
            let rows = world.node.send(&ask(&org, prefix, &references, "application/json")).await;
            let rows = rows.json_of(200);
            let told = rows.as_array().expect("always a list").iter().map(|row| {
                let cell = |name: &str| text(&row[name]);
                assert_eq!(row["rspUrl"], row["smdpAddress"]);
                let [iccid, code] = [cell("iccid"), cell("matchingId")];
                let [host, bundle, own] = [cell("rspUrl"), cell("bundle"), cell("reference")];
                format!("{iccid},{code},{host},{bundle},{own}\n")
            });
            assert_eq!(told.collect::<Vec<_>>(), wanted, "{prefix} {references:?}");
        }
        for (reference, wanted) in [(&first, &of_first[..]), (&one, &of_first[1..2])] {
            let answer = world.node.send(&old(&org, prefix, "csv", reference)).await;
            assert_eq!(answer.text(), table(wanted), "{prefix}");
        }
    }
}

async fn a_reference_of_any_version_is_known_to_all(home: Home) {
    let world = open(home, 40).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 40)]).await;
    let own = esim(&world, &org).await;
    let (mut all, mut next) = (Vec::new(), 2);
    for (_, prefix) in prefixes() {
        let bought = reference(&buy(&world, &org, prefix, &onto_new(&[(PT, 1)])).await);
        all.push((line(next, PT.name, &bought), bought));
        let named =
            reference(&buy(&world, &org, prefix, &onto(FR, std::slice::from_ref(&own))).await);
        all.push((line(1, FR.name, &named), named));
        next += 1;
        if prefix >= "/v2.1" {
            let body = json!({"bundle": FR.name});
            let put = apply_reference(&put_on(&world, &org, prefix, &body).await);
            all.push((line(next, FR.name, &put), put));
            next += 1;
        }
    }
    // What the old apply made is known by the reference of the assignment.
    let body = json!({"name": FR.name});
    world.node.send(&apply_to_one(&org, "/v2.0", &own, &body)).await.expect(200);
    let newest = crate::desk::latest(&world, &org, &own, FR).await;
    let by_number = text(&newest["assignmentReference"]);
    let whole = by_number.strip_suffix("-0").expect("the first").to_owned();
    all.push((line(1, FR.name, &whole), by_number));
    for (_, prefix) in since("v2.1") {
        for (wanted, reference) in &all {
            let answer = world.node.send(&old(&org, prefix, "csv", reference)).await;
            assert_eq!(answer.text(), table(std::slice::from_ref(wanted)), "{prefix}");
            if prefix >= "/v2.2" {
                let answer = world.node.send(&ask(&org, prefix, &[reference], "")).await;
                assert_eq!(answer.text(), table(std::slice::from_ref(wanted)), "{prefix}");
            }
        }
    }
}

async fn an_archive_holds_a_picture_of_each_esim(home: Home) {
    let world = open(home, 10).await;
    let org = reseller(&world, PLENTY).await;
    let first = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 2)])).await);
    // Two bundles on one eSIM: two rows, one picture.
    let own = [iccid(1), iccid(1), iccid(2)];
    let second = reference(&buy(&world, &org, "/v2.5", &onto(FR, &own)).await);
    let mut pictures = BTreeMap::new();
    for number in [1, 2] {
        let target = format!("/v2.0/esims/{}/qr", iccid(number));
        let picture = world.get(&target, &org.key).await.expect(200).body;
        pictures.insert(format!("{}.png", iccid(number)), picture);
    }
    let firsts = [line(1, PT.name, &first), line(2, PT.name, &first)];
    let seconds = [line(1, FR.name, &second), line(1, FR.name, &second), line(2, FR.name, &second)];
    for (version, prefix) in since("v2.1") {
        let tables = |wanted: &[(&String, &[String])]| {
            let mut all = pictures.clone();
            for (reference, lines) in wanted.iter().filter(|_| version.name() >= "v2.5") {
                all.insert(format!("{reference}.csv"), table(lines).into_bytes());
            }
            all
        };
        let files = async |request: Request| -> BTreeMap<String, Vec<u8>> {
            let answer = world.node.send(&request).await;
            assert_eq!(kind(&answer), "application/zip", "{}", request.target);
            let files = unzip(&answer.body);
            let count = files.len();
            let files: BTreeMap<_, _> = files.into_iter().collect();
            assert_eq!(files.len(), count, "no name twice: {}", request.target);
            files
        };
        let alone = files(old(&org, prefix, "qr", &first)).await;
        assert_eq!(alone, tables(&[(&first, &firsts)]), "{prefix}");
        let alone = files(old(&org, prefix, "qr", &second)).await;
        assert_eq!(alone, tables(&[(&second, &seconds)]), "{prefix}");
        if prefix < "/v2.2" {
            continue;
        }
        let both = files(ask(&org, prefix, &[&first, &second], "application/zip")).await;
        assert_eq!(both, tables(&[(&first, &firsts), (&second, &seconds)]), "{prefix}");
        // Parts of one reference, with another in between.
        let parts = [&format!("{first}-0"), second.as_str(), &format!("{first}-1")];
        let parts = files(ask(&org, prefix, &parts, "application/zip")).await;
        assert_eq!(parts.keys().collect::<Vec<_>>(), both.keys().collect::<Vec<_>>(), "{prefix}");
        assert_eq!(parts, both, "{prefix}");
    }
}

async fn a_picture_says_how_to_install_the_esim(home: Home) {
    let world = open(home, 3).await;
    let org = reseller(&world, PLENTY).await;
    let bought = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 3)])).await;
    for (_, prefix) in prefixes() {
        for number in 1..=3 {
            let target = format!("{prefix}/esims/{}/qr", iccid(number));
            for accept in ["", "application/json", "text/csv"] {
                let request = Request::get(&target).key(&org.key).header("Accept", accept);
                let answer = world.node.send(&request).await;
                assert_eq!(kind(&answer), "image/png", "{prefix}");
                let code = format!("LPA:1$rsp.example${}", matching_id(number));
                assert_eq!(scanned(&answer.body), code, "{prefix}");
            }
            let head = world.node.send(&Request::new("HEAD", &target).key(&org.key)).await;
            assert_eq!(kind(&head), "image/png", "{prefix}");
        }
    }
    let archive = world.node.send(&old(&org, "/v2.1", "qr", &reference(&bought))).await;
    let read: Vec<_> =
        unzip(&archive.body).into_iter().map(|(name, file)| (name, scanned(&file))).collect();
    let wanted: Vec<_> = (1..=3)
        .map(|n| (format!("{}.png", iccid(n)), format!("LPA:1$rsp.example${}", matching_id(n))))
        .collect();
    assert_eq!(read, wanted);
}

async fn json_tells_what_the_version_knows(home: Home) {
    let world = open(home, 1).await;
    let org = reseller(&world, PLENTY).await;
    let own = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await);
    let url = |who: &str| {
        let code = matching_id(1);
        format!(
            "https://esimsetup.{who}.com/esim_qrcode_provisioning?carddata=LPA:1$rsp.example${code}"
        )
    };
    for installed in [false, true] {
        if installed {
            phone(&world, &org, &iccid(1), "install", &json!({})).await;
        }
        let at = crate::desk::of(&world, &org, &iccid(1), "").await;
        let at = at["firstInstalledDateTime"].as_i64().map(domain::Timestamp::from_ms);
        for (version, prefix) in since("v2.2") {
            for (query, apple, android) in [
                ("", false, false),
                ("&additionalFields=appleInstallUrl", true, false),
                ("&additionalFields=installUrl", true, true),
            ] {
                let mut wanted = json!({
                    "iccid": iccid(1), "matchingId": matching_id(1), "rspUrl": "rsp.example",
                    "smdpAddress": "rsp.example", "bundle": PT.name, "reference": own,
                });
                if version.name() >= "v2.4" {
                    let status = if installed { "Installed" } else { "Released" };
                    wanted["profileStatus"] = json!(status);
                    (wanted["pin"], wanted["puk"]) = (json!(""), json!(""));
                    wanted["firstInstalledDateTime"] = json!(at.map(|at| at.to_string()));
                }
                for (name, has_it, who) in
                    [("appleInstallUrl", apple, "apple"), ("androidInstallUrl", android, "android")]
                {
                    if has_it {
                        wanted[name] = json!(url(who));
                    }
                }
                let target = format!("{prefix}/esims/assignments?reference={own}{query}");
                let request = Request::get(&target).key(&org.key);
                let request = request.header("Accept", "application/json");
                let told = world.node.send(&request).await.json_of(200);
                assert_eq!(told, json!([wanted]), "{target}");
            }
        }
    }
}

async fn a_reference_that_is_none_is_refused(home: Home) {
    let world = open(home, 10).await;
    let (org, other) = (reseller(&world, PLENTY).await, reseller(&world, PLENTY).await);
    let own = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 2)])).await);
    let foreign = reference(&buy(&world, &other, "/v2.5", &onto_new(&[(PT, 1)])).await);
    let stocked = reference(&buy(&world, &org, "/v2.5", &into_inventory(&[(PT, 1)])).await);
    let unknown = [
        foreign.clone(),
        format!("{foreign}-0"),
        "6513270e-269e-4d37-b2a7-4de452e6b438".into(),
        "6513270e-269e-4d37-b2a7-4de452e6b438-0".into(),
        format!("{own}-2"),
        format!("{own}--1"),
        format!("{own}-x"),
        format!("{own}-99999999999999999999"),
        format!("{own}-0-0"),
        own.to_uppercase(),
        // It has put nothing on any eSIM.
        stocked,
        "x".into(),
        "%20".into(),
        "'%20OR%201=1--".into(),
    ];
    for (version, prefix) in since("v2.1") {
        let (mut tables, mut others) = (Vec::new(), Vec::new());
        for reference in &unknown {
            tables.push(world.node.send(&old(&org, prefix, "csv", reference)).await);
            others.push(world.node.send(&old(&org, prefix, "qr", reference)).await);
        }
        let (status, text) = match version.name() {
            "v2.1" | "v2.2" | "v2.3" => (400, "reference not found"),
            _ => (403, "access denied"),
        };
        assert_eq!(alike(tables, status, "unknown-reference"), text, "{prefix}");
        assert_eq!(alike(others, 400, "unknown-reference"), "reference not found", "{prefix}");
        if prefix < "/v2.2" {
            continue;
        }
        let mut answers = Vec::new();
        for reference in &unknown {
            for accept in ["", "application/json", "application/zip"] {
                answers.push(world.node.send(&ask(&org, prefix, &[reference], accept)).await);
            }
            // One is enough to spoil all.
            let both = ask(&org, prefix, &[&own, reference], "text/csv");
            answers.push(world.node.send(&both).await);
        }
        assert_eq!(alike(answers, 400, "unknown-reference"), "reference not found", "{prefix}");
        for query in ["", "?reference=", "?Reference=x", "?references=x"] {
            let answer = world.get(&format!("{prefix}/esims/assignments{query}"), &org.key).await;
            let text = answer.refused(400, "missing-parameter");
            assert_eq!(text, "reference is required", "{prefix}{query}");
        }
    }
}

async fn an_order_that_is_processed_must_be_waited_for(home: Home) {
    let world = open(home, 40).await;
    let org = reseller(&world, PLENTY).await;
    stock_up(&world, &org, &[(FR, 6)]).await;
    let done = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 1)])).await);
    hold(&world, &org, true).await;
    let large = reference(&buy(&world, &org, "/v2.5", &onto_new(&[(PT, 6)])).await);
    let body = json!({"bundle": FR.name, "repeat": 6});
    let put = apply_reference(&put_on(&world, &org, "/v2.5", &body).await);
    for (_, prefix) in since("v2.1") {
        for reference in [&large, &put, &format!("{put}-3")] {
            let mut requests =
                vec![old(&org, prefix, "qr", reference), old(&org, prefix, "csv", reference)];
            if prefix >= "/v2.2" {
                requests.push(ask(&org, prefix, &[reference], "application/json"));
                requests.push(ask(&org, prefix, &[&done, reference], ""));
            }
            for request in requests {
                let refusal = world.node.send(&request).await;
                assert_eq!(refusal.header("retry-after"), Some("5"), "{refusal}");
                let text = refusal.refused(503, "still-processing");
                assert_eq!(text, "order is still processing, try again later", "{prefix}");
            }
        }
    }
    hold(&world, &org, false).await;
    settle(&world, &org).await;
    for reference in [&large, &put] {
        let answer = world.node.send(&ask(&org, "/v2.2", &[reference], "")).await.expect(200);
        assert_eq!(answer.text().lines().count(), 7);
    }
}

async fn dead_esims_are_left_out(home: Home) {
    let world = open(home, 3).await;
    let org = reseller(&world, PLENTY).await;
    let bought = buy(&world, &org, "/v2.5", &onto_new(&[(PT, 3)])).await;
    let (own, esims) = (reference(&bought), iccids(&bought));
    deactivate(&world, &esims[1]).await;
    let alive = table(&[line(1, PT.name, &own), line(3, PT.name, &own)]);
    let dead = format!("{own}-1");
    for (_, prefix) in since("v2.1") {
        let answer = world.node.send(&old(&org, prefix, "csv", &own)).await;
        assert_eq!(answer.text(), alive, "{prefix}");
        let archive = world.node.send(&old(&org, prefix, "qr", &own)).await;
        let names: HashSet<_> = unzip(&archive.body).into_iter().map(|(name, _)| name).collect();
        assert!(!names.contains(&format!("{}.png", esims[1])), "{prefix}: {names:?}");
        assert!(names.contains(&format!("{}.png", esims[2])), "{prefix}: {names:?}");
        let mut gone = vec![old(&org, prefix, "csv", &dead), old(&org, prefix, "qr", &dead)];
        if prefix >= "/v2.2" {
            let answer = world.node.send(&ask(&org, prefix, &[&own], "")).await;
            assert_eq!(answer.text(), alive, "{prefix}");
            gone.push(ask(&org, prefix, &[&dead], "application/json"));
            gone.push(ask(&org, prefix, &[&own, &dead], ""));
        }
        let picture = format!("{prefix}/esims/{}/qr", esims[1]);
        gone.push(Request::get(&picture).key(&org.key));
        for request in gone {
            let text = world.node.send(&request).await.refused(410, "esim-deactivated");
            assert_eq!(text, "esim is deactivated", "{}", request.target);
        }
    }
    for esim in [&esims[0], &esims[2]] {
        deactivate(&world, esim).await;
    }
    for (_, prefix) in since("v2.1") {
        for kind in ["csv", "qr"] {
            let refusal = world.node.send(&old(&org, prefix, kind, &own)).await;
            refusal.refused(410, "esim-deactivated");
        }
    }
}

async fn a_large_order_comes_whole(home: Home) {
    const COUNT: usize = 1_001;
    let world: World = open(home, COUNT).await;
    let org = reseller(&world, 10 * PLENTY).await;
    let body = onto_new(&[(PT, 1_000), (FR, 1)]);
    let own = reference(&buy(&world, &org, "/v2.1", &body).await);
    let csv = world.node.send(&ask(&org, "/v2.5", &[&own], "")).await.expect(200).text();
    let wanted = (1..=COUNT).map(|n| line(n, if n == COUNT { FR.name } else { PT.name }, &own));
    assert_eq!(csv, table(&wanted.collect::<Vec<_>>()));
    let rows = world.node.send(&ask(&org, "/v2.2", &[&own], "application/json")).await;
    let rows = rows.json_of(200);
    let rows: Vec<_> = rows.as_array().expect("a list").iter().map(|row| &row["iccid"]).collect();
    let all: Vec<Value> = (1..=COUNT).map(|n| json!(iccid(n))).collect();
    assert_eq!(rows, all.iter().collect::<Vec<_>>());
    let part = format!("{own}-1000");
    let last = world.node.send(&ask(&org, "/v2.5", &[&part], "")).await.expect(200).text();
    assert_eq!(last, table(&[line(COUNT, FR.name, &own)]));
}
