//! Where callbacks may go: never inside, unless the operator allows it, however it is disguised.

use domain::address;
use serde_json::{Value, json};

use crate::callbacks::{deliveries, delivery, listen, many, of_sandbox};
use crate::desk::consume;
use crate::harness::{Home, Receiver, World};
use crate::money::{advance, settle};
use crate::shop::{PLENTY, open, open_in, reseller};

crate::on_both! {
    addresses_inside_are_refused_when_they_are_set,
    addresses_are_judged_again_when_connecting,
    a_name_that_leads_inside_leads_nowhere,
    what_is_taken_as_an_address_can_be_sent_to,
}

const OUTSIDE_ONLY: [(&str, &str); 1] = [("TERN_CALLBACKS_INSIDE", "false")];

async fn addresses_inside_are_refused_when_they_are_set(home: Home) {
    let world = World::with(home, &OUTSIDE_ONLY).await;
    let org = world.add_sandbox("Careful").await;
    let path = format!("/organisations/{}", org.id);
    world.change(&org, &json!({"callbackUrl": "https://shop.example/hook"})).await;
    let before = world.home.dump().await;
    for url in [
        "http://localhost/hook",
        "http://LOCALHOST:8080/hook",
        "http://localhost./hook",
        "http://a.localhost/hook",
        "http://127.0.0.1/hook",
        "http://127.0.0.1.:8080/hook",
        "http://127.1/hook",
        "http://2130706433/hook",
        "http://0x7f.0.0.1/hook",
        "http://0177.0.0.1/hook",
        "http://0/hook",
        "http://0.0.0.0/hook",
        "http://10.0.0.1/hook",
        "http://172.16.0.1/hook",
        "http://192.168.1.1/hook",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/hook",
        "http://[::]/hook",
        "http://[::ffff:127.0.0.1]/hook",
        "http://[::ffff:7f00:1]/hook",
        "http://[64:ff9b::127.0.0.1]/hook",
        "http://[2002:7f00:1::]/hook",
        "http://[fd00::1]/hook",
        "http://[fe80::1]/hook",
        "ftp://shop.example/hook",
        "file:///etc/passwd",
        "gopher://shop.example/",
        "javascript:alert(1)",
        "HTTPS//shop.example",
        "https://user@shop.example/hook",
        "https://user:word@shop.example/hook",
        "https://shop.example\\@127.0.0.1/hook",
        "https://shop.example:22/hook",
        "https://shop.example:25/hook",
        "https://shop.example:0/hook",
        "https://shop.example:65536/hook",
        "https://shop.example:+443/hook",
        "https://shop.example/a b",
        "https://shop.example/a\nHost: other",
        "https://",
        "shop.example/hook",
    ] {
        let refusal = world.order("PATCH", &path, &json!({ "callbackUrl": url })).await;
        let code = refusal.header("x-error-code").unwrap_or_default().to_owned();
        assert_eq!((refusal.status, code.as_str()), (400, "invalid-field"), "{url}: {refusal}");
        let body = json!({"name": "New", "currency": "USD", "callbackUrl": url});
        let refusal = world.order("POST", "/organisations", &body).await;
        assert_eq!(refusal.status, 400, "{url}: {refusal}");
    }
    assert_eq!(world.home.dump().await, before);
    for url in ["https://shop.example:8443/a?b=c", "http://9.9.9.9/", "https://[2606:4700::1111]/"]
    {
        let changed = world.change(&org, &json!({ "callbackUrl": url })).await;
        assert_eq!(changed["callbackUrl"], url);
    }
}

/// The answer to the last attempt of the newest delivery, and how often it was tried.
async fn last_answer(world: &World, org: &crate::harness::Org) -> (Value, Value) {
    let newest = deliveries(world, org, "?limit=1").await.remove(0);
    let whole = delivery(world, org, &newest["cursor"]).await;
    let last = whole["tried"].as_array().and_then(|all| all.last()).cloned();
    let last = last.expect("it was tried");
    assert_eq!(last["status"], Value::Null);
    (last["answer"].clone(), whole["attempts"].clone())
}

const NOT_PUBLIC: &str = "the address is not on the public network";

async fn addresses_are_judged_again_when_connecting(home: Home) {
    let mut world = open(home, 5).await;
    let receiver = Receiver::start().await;
    let org = reseller(&world, PLENTY).await;
    let iccids = many(&world, &org, 1).await;
    for url in [receiver.url(), format!("http://localhost:{}/hook", receiver.port())] {
        world.change(&org, &json!({ "callbackUrl": url })).await;
        consume(&world, &org, &iccids[0], 1_000).await;
        settle(&world, &org).await;
        let (count, connections) = (receiver.count(), receiver.connections());
        world.restart(&OUTSIDE_ONLY).await;
        consume(&world, &org, &iccids[0], 1_000).await;
        settle(&world, &org).await;
        advance(&world, &org, 10).await;
        assert_eq!((receiver.count(), receiver.connections()), (count, connections), "{url}");
        assert_eq!(last_answer(&world, &org).await, (json!(NOT_PUBLIC), json!(2)), "{url}");
        // Other settings can still be changed.
        world.change(&org, &json!({"notes": "moves soon"})).await;
        // Allowed again, it arrives.
        world.restart(&[]).await;
        advance(&world, &org, 300).await;
        assert_eq!(receiver.wait_for(count + 1).await.len(), count + 1, "{url}");
    }
    // Nobody listens there: that is said, too.
    listen(&world, &org, &receiver).await;
    drop(receiver);
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    let (answer, _) = last_answer(&world, &org).await;
    let refused = ["connection refused", "the connection was closed before an answer"];
    assert!(refused.contains(&answer.as_str().unwrap_or_default()), "{answer}");
}

/// A name that this host knows for itself and that does not give itself away.
fn own_name() -> String {
    let hosts = std::fs::read_to_string("/etc/hosts").expect("a list of hosts");
    let fits = |line: &str| {
        let mut words = line.split_whitespace();
        let address = words.next()?.parse().ok().filter(|at| !address::is_public(*at))?;
        let is_v4 = matches!(address, std::net::IpAddr::V4(_));
        words.find(|name| is_v4 && !name.contains("localhost")).map(ToOwned::to_owned)
    };
    hosts.lines().find_map(fits).expect("this host knows its own name")
}

async fn a_name_that_leads_inside_leads_nowhere(home: Home) {
    let world = World::with(home, &OUTSIDE_ONLY).await;
    open_in(&world, 5).await;
    let receiver = Receiver::start().await;
    let org = reseller(&world, PLENTY).await;
    let iccids = many(&world, &org, 1).await;
    let url = format!("http://{}:{}/hook", own_name(), receiver.port());
    world.change(&org, &json!({ "callbackUrl": url })).await;
    consume(&world, &org, &iccids[0], 1_000).await;
    settle(&world, &org).await;
    assert_eq!(last_answer(&world, &org).await, (json!(NOT_PUBLIC), json!(1)));
    world.change(&org, &json!({"callbackUrl": "http://no-such-name.invalid/hook"})).await;
    consume(&world, &org, &iccids[0], 1_000).await;
    advance(&world, &org, 5).await;
    settle(&world, &org).await;
    let first = deliveries(&world, &org, "").await.pop().expect("a delivery");
    let whole = delivery(&world, &org, &first["cursor"]).await;
    assert_eq!(whole["tried"][1]["answer"], "the name could not be resolved", "{whole}");
    assert_eq!(receiver.connections(), 0);
}

/// Whatever stands in a path or a query: it is refused when it is set, or callbacks arrive there.
async fn what_is_taken_as_an_address_can_be_sent_to(home: Home) {
    let world = World::start(home).await;
    let receiver = Receiver::start().await;
    let org = world.add_sandbox("Odd").await;
    let host = format!("http://127.0.0.1:{}", receiver.port());
    let mut urls = vec![
        (host.clone(), "/".to_owned()),
        (format!("{host}?a=b"), "/?a=b".to_owned()),
        (format!("{host}/a/b?c=d#e"), "/a/b?c=d".to_owned()),
        (format!("{host}//a/../b%20c"), "//a/../b%20c".to_owned()),
    ];
    let plain = urls.len();
    for odd in ('!'..='~').filter(|c| !c.is_ascii_alphanumeric() && !"?#%".contains(*c)) {
        urls.push((format!("{host}/x{odd}y"), format!("/x{odd}y")));
        urls.push((format!("{host}/?x{odd}y"), format!("/?x{odd}y")));
    }
    let mut paths = Vec::new();
    for (place, (url, path)) in urls.iter().enumerate() {
        let request = world.operator("PATCH", &format!("/organisations/{}", org.id));
        let answer = world.node.send(&request.json(&json!({ "callbackUrl": url }))).await;
        if answer.status == 400 && place >= plain {
            continue;
        }
        answer.expect(200);
        world.node.send(&of_sandbox(&org, "callbacks/test")).await.expect(200);
        settle(&world, &org).await;
        paths.push(path.clone());
        let came: Vec<_> = receiver.calls().into_iter().map(|call| call.path).collect();
        assert_eq!(came, paths, "{url}");
    }
    assert!(paths.len() > 40, "most are good: {paths:?}");
}
