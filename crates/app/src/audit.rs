//! The audit log: an entry in the transaction of every act that somebody is answerable for.

use std::fmt;

use domain::{AuditId, KeyId, OrgId, Timestamp, UserId};
pub use store::audit::Entry;
use store::{StoreError, Tx};

use crate::App;

/// Who acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The holder of an operator key.
    Operator(KeyId),
    /// A person of an organisation, in the portal.
    User(UserId),
    /// Somebody at the command line, who can read the files anyway.
    CommandLine,
    /// The service itself, at its first start.
    Service,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator(key) => write!(f, "operator:{key}"),
            Self::User(user) => write!(f, "user:{user}"),
            Self::CommandLine => f.write_str("cli"),
            Self::Service => f.write_str("service"),
        }
    }
}

/// An act about to happen: its id and time are made outside the transaction, which may run twice.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    id: AuditId,
    pub(crate) at: Timestamp,
    actor: Actor,
    action: &'static str,
}

impl Act {
    /// Names the act, for what it causes.
    pub(crate) fn reference(&self) -> String {
        self.id.to_string()
    }

    pub(crate) fn note(
        &self,
        tx: &mut Tx<'_>,
        org: Option<OrgId>,
        target: impl fmt::Display,
        detail: &str,
    ) -> Result<(), StoreError> {
        store::audit::add(
            tx,
            &Entry {
                id: self.id,
                at: self.at,
                actor: self.actor.to_string(),
                action: self.action.to_owned(),
                org,
                target: target.to_string(),
                detail: detail.to_owned(),
            },
        )
    }
}

/// What a person asks for, to be noted with its effect.
#[derive(Debug, Clone)]
pub struct Deed {
    act: Act,
    target: String,
}

impl Deed {
    pub(crate) fn note(&self, tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
        self.act.note(tx, Some(org), &self.target, "")
    }
}

impl App {
    /// Something a person is about to do. Noted when it has an effect.
    pub fn deed(&self, actor: Actor, action: &'static str, target: impl Into<String>) -> Deed {
        Deed { act: self.act(actor, action), target: target.into() }
    }

    pub(crate) fn act(&self, actor: Actor, action: &'static str) -> Act {
        Act { id: self.audit_id(), at: self.now(), actor, action }
    }

    /// Entries from the newest on, or from the one before `before`.
    pub async fn audit(
        &self,
        before: Option<AuditId>,
        most: i64,
    ) -> Result<Vec<Entry>, StoreError> {
        self.store().read(move |tx| store::audit::page(tx, before, most)).await
    }
}
