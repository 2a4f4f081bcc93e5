//! The portal's door: who comes in, how guesses are slowed down, and that no form and no page opens
//! to anybody whom it is not for.

use std::collections::BTreeSet;

use serde_json::json;
use store::Rt;

use crate::harness::{Answer, Home, Org, World, http};
use crate::portal::{PASSWORD, Visitor, add_person, attributes, between};

crate::on_both! {
    the_right_password_opens_and_nothing_else_does,
    guesses_are_slowed_down_for_who_makes_them,
    a_session_ends_when_it_is_told_to,
    links_let_people_choose_a_password_once,
    a_second_factor_is_asked_for_and_each_code_opens_once,
    every_page_wants_a_session,
    forms_of_others_are_refused,
    roles_limit_what_is_shown_and_done,
    owners_are_touched_by_owners_only,
    over_https_cookies_insist_on_it,
}

async fn shop(home: Home) -> (World, Org) {
    let world = World::start(home).await;
    let org = world.add_sandbox("Portal People").await;
    (world, org)
}

async fn the_right_password_opens_and_nothing_else_does(home: Home) {
    let (world, org) = shop(home).await;
    let email = add_person(&world, &org, "Owner");
    let mut visitor = Visitor::new(&world.node);
    let away = visitor.get("/portal/esims?q=1").await.expect(303);
    let next = away.header("location").expect("the way in").to_owned();
    assert_eq!(next, "/portal/sign-in?next=%2Fportal%2Fesims%3Fq%3D1");

    visitor.get(&next).await.expect(200);
    let wrong = [
        (email.as_str(), "a tern flies farther than any othe"),
        ("nobody@reseller.example", PASSWORD),
        ("", ""),
        // The operator's staff has a door of its own.
        ("admin@localhost", world.console_password.as_str()),
    ];
    let mut said = BTreeSet::new();
    for (email, password) in wrong {
        let page = visitor
            .post("/portal/sign-in", &[("email", email), ("password", password)])
            .await
            .expect(422)
            .text();
        said.insert(between(&page, "role=\"alert\">", "</p>").expect("a reason"));
        assert!(!visitor.jar.contains_key("tern_session"));
    }
    assert_eq!(said.len(), 1, "nobody learns which of the two was wrong: {said:?}");

    // Case does not matter in an address; the page that was wanted comes first.
    let fields =
        [("email", &*email.to_uppercase()), ("password", PASSWORD), ("next", "/portal/esims?q=1")];
    let entered = visitor.post("/portal/sign-in", &fields).await.expect(303);
    assert_eq!(entered.header("location"), Some("/portal/esims?q=1"));
    let cookie = cookie(&entered, "tern_session");
    for part in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    world.is_secret(&visitor.jar["tern_session"]);
    let page = visitor.get("/portal").await.expect(200);
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("cache-control"), Some("no-store"));

    // Nobody is led out of the portal by a link to its sign-in page.
    let mut led = Visitor::new(&world.node);
    led.get("/portal/sign-in?next=//elsewhere.example/portal").await.expect(200);
    let fields =
        [("email", &*email), ("password", PASSWORD), ("next", "//elsewhere.example/portal")];
    let entered = led.post("/portal/sign-in", &fields).await.expect(303);
    assert_eq!(entered.header("location"), Some("/portal"));
}

fn cookie(answer: &Answer, name: &str) -> String {
    let cookies = answer.headers.iter().filter(|(header, _)| header == "set-cookie");
    let mut named = cookies.filter(|(_, value)| value.starts_with(&format!("{name}=")));
    named.next().expect("a cookie").1.clone()
}

async fn guesses_are_slowed_down_for_who_makes_them(home: Home) {
    let (world, org) = shop(home).await;
    let email = add_person(&world, &org, "Viewer");
    let other = add_person(&world, &org, "Viewer");
    let mut guesser = Visitor::new(&world.node);
    for _ in 0..5 {
        guesser.sign_in(&email, "not the password").await.expect(422);
    }
    // Now even the right one waits, and the page says how long.
    let page = guesser.sign_in(&email, PASSWORD).await.expect(429).text();
    assert!(page.contains("Wait ") && page.contains(" seconds"), "{page}");
    // Somebody else from the same office does not.
    Visitor::new(&world.node).sign_in(&other, PASSWORD).await.expect(303);
    // Many at once gain nothing: they are counted before they are tried.
    let third = add_person(&world, &org, "Viewer");
    let mut guessers = Vec::new();
    for _ in 0..12 {
        let mut visitor = Visitor::new(&world.node);
        visitor.get("/portal/sign-in").await.expect(200);
        guessers.push(visitor);
    }
    let (rt, address) = (Rt::real(), world.node.address);
    let tries: Vec<_> = guessers
        .iter()
        .map(|guesser| {
            let fields = [("email", third.as_str()), ("password", "still not it")];
            let request = guesser.ready("/portal/sign-in", &fields).bytes();
            rt.task(async move { http::exchange(address, &request, false).await })
        })
        .collect();
    let mut tried = Vec::new();
    for one in tries {
        tried.push(one.await.expect("no panic").expect("an answer").status);
    }
    assert_eq!(tried.iter().filter(|status| **status == 422).count(), 5, "{tried:?}");
}

async fn a_session_ends_when_it_is_told_to(home: Home) {
    let (world, org) = shop(home).await;
    let email = add_person(&world, &org, "Admin");
    let mut here = Visitor::new(&world.node);
    let mut there = Visitor::new(&world.node);
    for visitor in [&mut here, &mut there] {
        visitor.sign_in(&email, PASSWORD).await.expect(303);
        visitor.get("/portal/account").await.expect(200);
    }
    let page = here.get("/portal/account").await.text();
    assert_eq!(page.matches("data-label=\"Last seen\"").count(), 2, "{page}");
    let answer = here.post("/portal/account/elsewhere", &[]).await;
    here.follow(answer).await.expect(200);
    there.get("/portal/account").await.expect(303);

    // A new password ends the others, too, and the old one is over.
    there.sign_in(&email, PASSWORD).await.expect(303);
    let fields = [("old", "wrong password!"), ("new", "and this one flies even farther")];
    let answer = here.post("/portal/account/password", &fields).await;
    let page = here.follow(answer).await.expect(200).text();
    assert!(page.contains("The password is wrong. Nothing was changed."), "{page}");
    there.get("/portal/account").await.expect(200);
    let new = "and this one flies even farther";
    world.is_secret(new);
    let answer =
        here.post("/portal/account/password", &[("old", PASSWORD), ("new", "short")]).await;
    assert!(here.follow(answer).await.text().contains("12 to 256 characters"));
    let answer = here.post("/portal/account/password", &[("old", PASSWORD), ("new", new)]).await;
    assert!(here.follow(answer).await.text().contains("Your password is changed"));
    there.get("/portal/account").await.expect(303);
    Visitor::new(&world.node).sign_in(&email, PASSWORD).await.expect(422);
    Visitor::new(&world.node).sign_in(&email, new).await.expect(303);

    // Signing out ends the session itself, not only the cookie.
    let kept = here.jar.clone();
    here.post("/portal/sign-out", &[]).await.expect(303);
    assert!(!here.jar.contains_key("tern_session"));
    here.jar = kept;
    here.get("/portal/account").await.expect(303);
}

async fn links_let_people_choose_a_password_once(home: Home) {
    let (world, org) = shop(home).await;
    let mut owner = Visitor::of_role(&world, &org, "Owner").await;
    owner.get("/portal/team").await.expect(200);
    let invite = [("email", "new@reseller.example"), ("role", "Support")];
    let page = owner.post("/portal/team/invite", &invite).await.expect(200).text();
    let link = link_on(&world, &page);
    // A second invitation of the same address says why not.
    let answer = owner.post("/portal/team/invite", &invite).await;
    assert!(owner.follow(answer).await.text().contains("is in use already"));

    let mut new = Visitor::new(&world.node);
    let page = new.get(&link).await.expect(200).text();
    assert!(page.contains("Welcome to Portal People") && page.contains("new@reseller.example"));
    new.post(&link, &[("password", "too short")]).await.expect(422);
    let chosen = "chosen through an invitation";
    world.is_secret(chosen);
    new.post(&link, &[("password", chosen)]).await.expect(303);
    for answer in [new.get(&link).await, new.post(&link, &[("password", chosen)]).await] {
        assert!(answer.expect(404).text().contains("not good any more"));
    }
    new.sign_in("new@reseller.example", chosen).await.expect(303);
    assert!(new.get("/portal/account").await.expect(200).text().contains("Support"));

    // A way back in: the old password works until the link is used, the first link is replaced.
    let team = owner.get("/portal/team").await.text();
    let mut forms = attributes(&team, "action").into_iter();
    let new_link = forms.find(|action| action.ends_with("/link")).expect("somebody else");
    let first = link_on(&world, &owner.post(&new_link, &[]).await.expect(200).text());
    let second = link_on(&world, &owner.post(&new_link, &[]).await.expect(200).text());
    new.get("/portal/account").await.expect(200);
    let mut back = Visitor::new(&world.node);
    back.get(&first).await.expect(404);
    back.get(&second).await.expect(200);
    let again = "chosen through a second link";
    world.is_secret(again);
    back.post(&second, &[("password", again)]).await.expect(303);
    new.get("/portal/account").await.expect(303);
    back.sign_in("new@reseller.example", again).await.expect(303);

    // The wholesaler can help, too.
    let told = world.home.tern_json(&["user", "link", "new@reseller.example"]);
    let link = told["link"].as_str().expect("a link").to_owned();
    let path = &link[link.find("/portal").expect("a link to the portal")..];
    world.is_secret(path.rsplit('/').next().expect("a token"));
    back.get(path).await.expect(200);
    let users = world.show(&format!("/organisations/{}/users", org.id)).await;
    let id = users["users"][1]["id"].as_str().expect("an id").to_owned();
    let ask = format!("/organisations/{}/users/{id}/link", org.id);
    let told = world.order("POST", &ask, &json!({})).await.json_of(201);
    back.get(path).await.expect(404);
    let link = told["link"].as_str().expect("a link").to_owned();
    let path = &link[link.find("/portal").expect("a link to the portal")..];
    world.is_secret(path.rsplit('/').next().expect("a token"));
    back.get(path).await.expect(200);
    let nobody = ask.replace(&id, "0198c0de-3c20-7e14-8f66-8d2b3a4c5e6f");
    world.order("POST", &nobody, &json!({})).await.refused(404, "unknown-user");
    let anything = format!("{}x", &path[..path.len() - 1]);
    back.get(&anything).await.expect(404);
}

/// The link on a page, which never stands in a log.
fn link_on(world: &World, page: &str) -> String {
    let token = between(page, "/portal/link/", "<").expect("a link");
    let token = token.split(['"', '<']).next().expect("a token").to_owned();
    world.is_secret(&token);
    format!("/portal/link/{token}")
}

async fn a_second_factor_is_asked_for_and_each_code_opens_once(home: Home) {
    let (world, org) = shop(home).await;
    let email = add_person(&world, &org, "Developer");
    let mut visitor = Visitor::new(&world.node);
    visitor.sign_in(&email, PASSWORD).await.expect(303);
    visitor.get("/portal/account").await.expect(200);
    let answer = visitor.post("/portal/account/factor", &[("password", "not it at all")]).await;
    assert!(visitor.follow(answer).await.text().contains("The password is wrong"));
    let start = [("password", PASSWORD)];
    let page = visitor.post("/portal/account/factor", &start).await.expect(200).text();
    let secret = between(&page, "data-copy=\"", "\"").expect("a key to type");
    world.is_secret(&secret);
    // It counts only once it was confirmed.
    Visitor::new(&world.node).sign_in(&email, PASSWORD).await.expect(303);
    let answer = visitor.post("/portal/account/factor/confirm", &[("code", "000000")]).await;
    assert!(visitor.follow(answer).await.text().contains("That code is wrong"));
    let code = totp(&secret, 0);
    let answer = visitor.post("/portal/account/factor/confirm", &[("code", &code)]).await;
    assert!(visitor.follow(answer).await.text().contains("The second factor is on"));

    // The password alone opens nothing; a code that was used does not open again.
    let mut later = Visitor::new(&world.node);
    let answer = later.sign_in(&email, PASSWORD).await.expect(303);
    assert_eq!(answer.header("location"), Some("/portal/code"));
    later.get("/portal/account").await.expect(303);
    later.get("/portal/code").await.expect(200);
    later.post("/portal/code", &[("code", &code)]).await.expect(422);
    let before = later.jar["tern_session"].clone();
    later.post("/portal/code", &[("code", &totp(&secret, 1))]).await.expect(303);
    assert_ne!(later.jar["tern_session"], before, "what waited is not what opens");
    later.get("/portal/account").await.expect(200);

    // Whoever sits at the browser cannot swap it for another.
    let answer = later.post("/portal/account/factor", &start).await;
    assert!(later.follow(answer).await.text().contains("on already"));
    let answer = later.post("/portal/account/factor/off", &[("password", "not it at all")]).await;
    assert!(later.follow(answer).await.text().contains("The password is wrong"));
    let answer = later.post("/portal/account/factor/off", &[("password", PASSWORD)]).await;
    assert!(later.follow(answer).await.text().contains("The second factor is off"));
    let mut last = Visitor::new(&world.node);
    last.sign_in(&email, PASSWORD).await.expect(303);
    // The wholesaler helps those who have lost the device; they sign in anew.
    last.get("/portal/account").await.expect(200);
    world.home.tern_json(&["user", "factor-off", &email]);
    last.get("/portal/account").await.expect(303);
}

/// The code an authenticator app shows so many half-minutes from now.
fn totp(secret: &str, ahead: i64) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let value = |letter| LETTERS.iter().position(|known| *known == letter).expect("base 32");
    let bits: Vec<u8> = secret
        .bytes()
        .flat_map(|letter| (0..5).rev().map(move |n| u8::from(value(letter) >> n & 1 == 1)))
        .collect();
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| byte << 1 | bit);
    let bytes: Vec<u8> = bits.chunks_exact(8).map(byte).collect();
    let step = Rt::real().now().ms() / 30_000 + ahead;
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &bytes);
    let tag = ring::hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let at = usize::from(tag[19] & 15);
    let word = u32::from_be_bytes([tag[at] & 127, tag[at + 1], tag[at + 2], tag[at + 3]]);
    format!("{:06}", word % 1_000_000)
}

/// Everything that the pages of a role lead to: pages, and where their forms go.
async fn reached(visitor: &mut Visitor<'_>) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut waiting = vec!["/portal".to_owned()];
    let (mut pages, mut forms) = (BTreeSet::new(), BTreeSet::new());
    while let Some(path) = waiting.pop() {
        let is_file = [".csv", ".zip", ".png"].iter().any(|end| path.contains(end));
        if is_file || pages.len() > 150 || !pages.insert(path.clone()) {
            continue;
        }
        let page = visitor.get(&path).await;
        if page.status != 200 {
            assert_eq!(page.status, 303, "{path} leads nowhere: {page}");
            continue;
        }
        let text = page.text();
        forms
            .extend(attributes(&text, "action").into_iter().filter(|to| to.starts_with("/portal")));
        let links = attributes(&text, "href").into_iter();
        waiting.extend(links.filter(|to| to.starts_with("/portal") && !to.contains(['.', '#'])));
    }
    (pages, forms)
}

async fn every_page_wants_a_session(home: Home) {
    let (world, org) = shop(home).await;
    let mut owner = Visitor::of_role(&world, &org, "Owner").await;
    let (pages, forms) = reached(&mut owner).await;
    assert!(pages.len() >= 15 && forms.len() >= 12, "{pages:?} {forms:?}");
    let mut stranger = Visitor::new(&world.node);
    stranger.jar.insert("tern_session".to_owned(), "A".repeat(43));
    for path in &pages {
        let answer = stranger.get(path).await.expect(303);
        let to = answer.header("location").expect("the way in");
        assert!(to.starts_with("/portal/sign-in"), "{path}: {to}");
    }
    for path in &forms {
        stranger.csrf.clone_from(&owner.csrf);
        let answer = stranger.post(path, &[]).await;
        assert!([303, 405].contains(&answer.status), "{path}: {answer}");
    }
}

async fn forms_of_others_are_refused(home: Home) {
    let (world, org) = shop(home).await;
    let mut owner = Visitor::of_role(&world, &org, "Owner").await;
    let mut other = Visitor::of_role(&world, &org, "Owner").await;
    let (_, forms) = reached(&mut owner).await;
    let posts = forms.iter().filter(|path| !path.contains('?'));
    for path in posts {
        for csrf in ["", "AAAAAAAAAAAAAAAAAAAAAAAA", &other.csrf.clone()] {
            let answer = owner.post_as_it_is(path, &[("csrf", csrf)]).await;
            // Forms that only look are sent with GET.
            assert!([403, 405].contains(&answer.status), "{path} with {csrf:?}: {answer}");
        }
    }
    // The page in another tab still works, and so does one without what new browsers say.
    other.post("/portal/theme", &[("theme", "dark"), ("back", "/portal")]).await.expect(303);
    assert!(other.get("/portal").await.text().contains("data-theme=\"dark\""));
}

async fn roles_limit_what_is_shown_and_done(home: Home) {
    let (world, org) = shop(home).await;
    let mut owner = Visitor::of_role(&world, &org, "Owner").await;
    let (pages, forms) = reached(&mut owner).await;
    // What everybody may do is one's own: account, theme, the way out.
    let own = |path: &str| {
        path.contains("account") || path.contains("theme") || path.contains("sign-out")
    };
    for (role, closed) in [
        ("Viewer", ["/portal/developers", "/portal/team", "/portal/billing/card"].as_slice()),
        ("Support", &["/portal/developers", "/portal/team", "/portal/billing"]),
        ("Developer", &["/portal/team", "/portal/billing"]),
    ] {
        let mut person = Visitor::of_role(&world, &org, role).await;
        let (seen, _) = reached(&mut person).await;
        for path in &pages {
            let is_closed = closed.iter().any(|start| path.starts_with(start));
            let status = person.get(path).await.status;
            assert_eq!(status == 403, is_closed, "{role} {path}: {status}");
            assert!(!(is_closed && seen.contains(path)), "{role} is led to {path}");
        }
        if role != "Viewer" {
            continue;
        }
        // A Viewer's own, good word opens no form that does anything.
        for path in forms.iter().filter(|path| !own(path)) {
            let answer = person.post(path, &[("once", "x")]).await;
            assert!([403, 405].contains(&answer.status), "{role} {path}: {answer}");
        }
    }
}

async fn owners_are_touched_by_owners_only(home: Home) {
    let (world, org) = shop(home).await;
    let mut owner = Visitor::of_role(&world, &org, "Owner").await;
    let mut admin = Visitor::of_role(&world, &org, "Admin").await;
    let users = world.show(&format!("/organisations/{}/users", org.id)).await;
    let id = |role: &str| {
        let users = users["users"].as_array().expect("users").iter();
        let mut found = users.filter(|user| user["role"] == role);
        found.next().expect("one")["id"].as_str().expect("an id").to_owned()
    };
    let (the_owner, the_admin) = (id("Owner"), id("Admin"));
    let only = "Only an owner may";
    for (act, fields) in [
        ("remove", vec![]),
        ("role", vec![("role", "Viewer")]),
        ("link", vec![]),
        ("factor", vec![]),
    ] {
        let answer = admin.post(&format!("/portal/team/{the_owner}/{act}"), &fields).await;
        assert!(admin.follow(answer).await.text().contains(only), "{act}");
    }
    let answer = admin.post(&format!("/portal/team/{the_admin}/role"), &[("role", "Owner")]).await;
    assert!(admin.follow(answer).await.text().contains(only));
    let answer = owner.post(&format!("/portal/team/{the_owner}/remove"), &[]).await;
    assert!(owner.follow(answer).await.text().contains("Nobody can change the own role"));
    // A role counts from the next click on.
    admin.get("/portal/team").await.expect(200);
    let answer = owner.post(&format!("/portal/team/{the_admin}/role"), &[("role", "Viewer")]).await;
    assert!(owner.follow(answer).await.text().contains("The role is changed"));
    admin.get("/portal/team").await.expect(403);
    owner.post(&format!("/portal/team/{the_admin}/remove"), &[]).await.expect(303);
    admin.get("/portal").await.expect(303);
    // Another organisation's people are not there.
    let neighbour = world.add_sandbox("Neighbour").await;
    let mut stranger = Visitor::of_role(&world, &neighbour, "Owner").await;
    stranger.get("/portal/team").await.expect(200);
    stranger.post(&format!("/portal/team/{the_owner}/remove"), &[]).await.expect(404);
    // Who did what is kept, by name.
    let log = owner.get("/portal/team/audit").await.expect(200).text();
    assert!(log.contains("changed a role") && log.contains("removed a person"), "{log}");
}

async fn over_https_cookies_insist_on_it(home: Home) {
    let world = World::with(home, &[("TERN_PUBLIC_URL", "https://portal.example")]).await;
    let org = world.add_sandbox("Portal People").await;
    let email = add_person(&world, &org, "Owner");
    let mut visitor = Visitor::new(&world.node);
    let entered = visitor.sign_in(&email, PASSWORD).await.expect(303);
    let cookie = cookie(&entered, "__Host-tern_session");
    for part in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    visitor.get("/portal/account").await.expect(200);
    // What is handed over begins as people reach the service.
    let invite = [("email", "new@reseller.example"), ("role", "Viewer")];
    let page = visitor.post("/portal/team/invite", &invite).await.expect(200).text();
    let token = between(&page, "https://portal.example/portal/link/", "<").expect("a link");
    world.is_secret(token.split('"').next().expect("a token"));
}
