//! A home with a running node, and what tests ask of it all the time.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::harness::node::Settings;
use crate::harness::{Answer, Home, Node, Request};

/// A service that is up, with its first operator.
pub(crate) struct World {
    pub(crate) home: Home,
    pub(crate) node: Node,
    pub(crate) operator_key: String,
    pub(crate) console_password: String,
    /// Every key and password it gave out: none of them may ever stand in a log.
    secrets: Mutex<Vec<String>>,
}

/// An organisation and its first key.
#[derive(Debug, Clone)]
pub(crate) struct Org {
    pub(crate) id: String,
    pub(crate) key: String,
}

/// A key that was made.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) text: String,
}

impl World {
    pub(crate) async fn start(home: Home) -> Self {
        Self::with(home, &[]).await
    }

    pub(crate) async fn with(home: Home, settings: Settings<'_>) -> Self {
        let node = Node::serve(&home, settings).await;
        let told = std::fs::read_to_string(home.data().join("first-start.txt"))
            .expect("a first start leaves a note");
        let fact = |name: &str| {
            let line = told.lines().find(|line| line.starts_with(name));
            let value = line.and_then(|line| line.split_whitespace().last());
            value.expect("the note names the first key and password").to_owned()
        };
        let (operator_key, console_password) = (fact("operator key"), fact("console password"));
        let secrets = Mutex::new(vec![operator_key.clone(), console_password.clone()]);
        Self { home, node, operator_key, console_password, secrets }
    }

    /// Every key and password given out so far.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes another one.
    pub(crate) fn is_secret(&self, text: &str) {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    /// Stops the node in good order, but in a hurry, and starts it again.
    pub(crate) async fn restart(&mut self, settings: Settings<'_>) {
        self.node.signal("TERM");
        self.node.signal("TERM");
        self.node.ended(std::time::Duration::from_secs(10)).await;
        self.node = Node::serve(&self.home, settings).await;
    }

    pub(crate) async fn get(&self, target: &str, key: &str) -> Answer {
        self.node.send(&Request::get(target).key(key)).await
    }

    /// A call of the operator; the path starts below `/operator/v1`.
    pub(crate) fn operator(&self, method: &str, path: &str) -> Request {
        Request::new(method, &format!("/operator/v1{path}")).bearer(&self.operator_key)
    }

    /// Reads something as the operator.
    pub(crate) async fn show(&self, path: &str) -> Value {
        self.node.send(&self.operator("GET", path)).await.json_of(200)
    }

    /// Sends something as the operator.
    pub(crate) async fn order(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.node.send(&self.operator(method, path).json(body)).await
    }

    pub(crate) async fn add(&self, fields: &Value) -> Org {
        let made = self.order("POST", "/organisations", fields).await.json_of(201);
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        self.is_secret(&text("apiKey"));
        Org { id: text("id"), key: text("apiKey") }
    }

    pub(crate) async fn add_sandbox(&self, name: &str) -> Org {
        self.add(&json!({ "name": name, "currency": "USD", "sandbox": true })).await
    }

    pub(crate) async fn add_live(&self, name: &str) -> Org {
        self.add(&json!({ "name": name, "currency": "USD" })).await
    }

    pub(crate) async fn change(&self, org: &Org, fields: &Value) -> Value {
        self.order("PATCH", &format!("/organisations/{}", org.id), fields).await.json_of(200)
    }

    pub(crate) async fn add_key(&self, org: &Org, fields: &Value) -> Key {
        let path = format!("/organisations/{}/keys", org.id);
        let made = self.order("POST", &path, fields).await.json_of(201);
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        self.is_secret(&text("apiKey"));
        Key { id: text("id"), text: text("apiKey") }
    }

    pub(crate) async fn revoke(&self, org: &Org, key: &Key) -> Answer {
        let path = format!("/organisations/{}/keys/{}", org.id, key.id);
        self.node.send(&self.operator("DELETE", &path)).await
    }
}

/// At the end of every story: no secret has reached any log.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let log = self.home.logs();
        for secret in self.secrets() {
            assert!(!log.contains(&secret), "a secret stands in the log: {secret}");
        }
    }
}
