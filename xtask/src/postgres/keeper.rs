//! The keeper: starts the server, waits for the end of its input, clears everything away.
//!
//! It is a process of its own; `postgres.rs` says why.

use std::io::{BufRead, Write};

use serde_json::json;

use super::home::Home;
use super::server::Server;
use super::{Durability, leftovers, signal};

/// The hidden sub-command. Its answer is one line of JSON on stdout, its orders come on stdin.
pub(crate) fn keep(durability: &str) -> Result<(), String> {
    let durability = Durability::parse(durability)?;
    leftovers::clear();
    let home = match Home::create(durability) {
        Ok(home) => home,
        Err(text) => return answer(&json!({ "failed": text })),
    };
    // Declared after the home, so dropped before it: the server stops, then its data goes.
    let server = match Server::start(&home, durability) {
        Ok(server) => server,
        Err(text) => return answer(&json!({ "failed": text })),
    };
    answer(&json!({ "dir": home.dir, "port": server.port, "bin": server.bin }))?;
    // What is still watched when the orders end was left behind by somebody who was killed.
    if let Some(target) = follow(std::io::stdin().lock()) {
        signal::end(&target, "TERM");
    }
    Ok(())
}

fn answer(value: &serde_json::Value) -> Result<(), String> {
    // A caller who is gone needs no answer: the input has ended too, and that is dealt with.
    writeln!(std::io::stdout(), "{value}").or(Ok(()))
}

/// Reads orders to their end, and says which child was running then.
fn follow(orders: impl BufRead) -> Option<String> {
    let mut watched = None;
    for order in orders.lines().map_while(Result::ok) {
        watched = order.strip_prefix("watch ").map(ToOwned::to_owned);
    }
    watched
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_child_that_was_not_forgotten_is_ended() {
        assert_eq!(follow(&b""[..]), None);
        assert_eq!(follow(&b"watch 7\nforget\n"[..]), None);
        assert_eq!(follow(&b"watch 7\nforget\nwatch -9\n"[..]), Some("-9".into()));
    }
}
