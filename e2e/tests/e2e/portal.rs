//! People of a reseller at the portal, without a browser: cookies, forms, and what stands on pages.

use std::collections::BTreeMap;

use crate::harness::{Answer, Node, Org, Ran, Request, World};

/// A person's password in these stories.
pub(crate) const PASSWORD: &str = "a tern flies farther than any other";

/// Somebody with a jar of cookies.
pub(crate) struct Visitor<'n> {
    node: &'n Node,
    pub(crate) jar: BTreeMap<String, String>,
    /// The word that makes forms ours, from the last page that had one.
    pub(crate) csrf: String,
}

impl<'n> Visitor<'n> {
    pub(crate) fn new(node: &'n Node) -> Self {
        Self { node, jar: BTreeMap::new(), csrf: String::new() }
    }

    /// Adds a person of that role and signs in.
    pub(crate) async fn of_role(world: &'n World, org: &Org, role: &str) -> Self {
        let email = add_person(world, org, role);
        let mut visitor = Self::new(&world.node);
        visitor.sign_in(&email, PASSWORD).await.expect(303);
        visitor.get("/portal/account").await.expect(200);
        visitor
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::get(path)).await
    }

    /// Sends a form as a browser does, with the last page's word.
    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf.clone();
        let fields = [&[("csrf", csrf.as_str())], fields].concat();
        self.post_as_it_is(path, &fields).await
    }

    /// Sends a form with nothing but these fields.
    pub(crate) async fn post_as_it_is(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send(form(path, fields)).await
    }

    /// A form that is not sent yet, with everything it takes.
    pub(crate) fn ready(&self, path: &str, fields: &[(&str, &str)]) -> Request {
        let fields = [&[("csrf", self.csrf.as_str())], fields].concat();
        form(path, &fields).header("cookie", self.cookies())
    }

    fn cookies(&self) -> String {
        let cookies = self.jar.iter().map(|(name, value)| format!("{name}={value}"));
        cookies.collect::<Vec<_>>().join("; ")
    }

    pub(crate) async fn sign_in(&mut self, email: &str, password: &str) -> Answer {
        self.get("/portal/sign-in").await.expect(200);
        self.post("/portal/sign-in", &[("email", email), ("password", password)]).await
    }

    /// Follows a form's answer to the page that says what was done.
    pub(crate) async fn follow(&mut self, answer: Answer) -> Answer {
        let answer = answer.expect(303);
        let path = answer.header("location").expect("a page to go to").to_owned();
        self.get(&path).await
    }

    async fn send(&mut self, request: Request) -> Answer {
        let answer = self.node.send(&request.header("cookie", self.cookies())).await;
        for (_, cookie) in answer.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (pair, rest) = cookie.split_once(';').unwrap_or((cookie, ""));
            let (name, value) = pair.split_once('=').expect("a cookie");
            if rest.contains("Max-Age=0") {
                self.jar.remove(name);
            } else {
                self.jar.insert(name.to_owned(), value.to_owned());
            }
        }
        if let Some(csrf) = between(&answer.text(), "name=\"csrf\" value=\"", "\"") {
            self.csrf = csrf;
        }
        answer
    }
}

fn form(path: &str, fields: &[(&str, &str)]) -> Request {
    let field = |(name, value): &(&str, &str)| format!("{}={}", encoded(name), encoded(value));
    Request::post(path)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(fields.iter().map(field).collect::<Vec<_>>().join("&"))
}

/// Adds a person of that role to an organisation; the address it signs in with.
pub(crate) fn add_person(world: &World, org: &Org, role: &str) -> String {
    world.is_secret(PASSWORD);
    let email = format!("{}-{}@reseller.example", role.to_lowercase(), world.home.next_number());
    let args = ["user", "add", &email, "--org", &org.id, "--role", role, "--password-stdin"];
    Ran::with_input(world.home.tern(&args).arg("--json"), &format!("{PASSWORD}\n")).json();
    email
}

/// What stands between two texts, first come.
pub(crate) fn between(text: &str, start: &str, end: &str) -> Option<String> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(found, _)| found.to_owned())
}

/// Every value of an attribute on a page.
pub(crate) fn attributes(page: &str, name: &str) -> Vec<String> {
    let start = format!(" {name}=\"");
    let values = page.split(&start).skip(1).filter_map(|rest| rest.split_once('"'));
    values.map(|(value, _)| value.replace("&amp;", "&")).collect()
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let one = |byte: u8| {
        if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(one).collect()
}
