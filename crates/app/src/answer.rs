//! Answers that are kept: rendered once, by a function of whoever asked, to bytes that mean nothing
//! here; compressed, sealed, and given again byte for byte.

use std::io::{Read, Write};

use domain::OrgId;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use store::Sealed;

use crate::vault::Vault;
use crate::{esims, inventory, orders, topup};

/// An answer as it goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The stable code of a refusal; empty otherwise.
    pub code: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// Writes answers in the form whoever asked wants; `form` is its own word for that.
pub trait Answers: Send + Sync {
    /// What a top-up came to.
    fn topup(&self, form: &str, outcome: &topup::Outcome) -> Answer;
    /// What became of an order.
    fn order(&self, form: &str, outcome: &orders::Outcome) -> Answer;
    /// What a refund came to.
    fn refund(&self, form: &str, refund: inventory::Refund) -> Answer;
    /// What became of an apply.
    fn apply(&self, form: &str, outcome: &esims::apply::Outcome) -> Answer;
    /// What a revoke came to.
    fn revoke(&self, form: &str, outcome: esims::revoke::Outcome) -> Answer;
    /// What became of a change of an eSIM.
    fn change(&self, form: &str, outcome: esims::change::Outcome) -> Answer;
    /// What became of a text message.
    fn sms(&self, form: &str, outcome: esims::sms::Outcome) -> Answer;
}

impl Answer {
    /// Whether what was asked for has happened.
    pub fn is_yes(&self) -> bool {
        self.status < 400
    }

    pub(crate) fn sealed(&self, vault: &Vault, random: [u8; 16], org: OrgId, key: &[u8]) -> Sealed {
        let head = format!("{} {}\n", self.status, self.code);
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
        let packed = packer
            .write_all(head.as_bytes())
            .and_then(|()| packer.write_all(&self.body))
            .and_then(|()| packer.finish())
            .expect("writing to memory does not fail");
        vault.seal(random, &owner(org, key), &packed)
    }

    pub(crate) fn open(vault: &Vault, org: OrgId, key: &[u8], sealed: &Sealed) -> Option<Self> {
        let packed = vault.open(&owner(org, key), sealed)?;
        let mut bytes = Vec::new();
        DeflateDecoder::new(packed.as_slice()).read_to_end(&mut bytes).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let (status, code) = head.split_once(' ')?;
        Some(Self {
            status: status.parse().ok()?,
            code: code.to_owned(),
            body: bytes[end + 1..].to_vec(),
        })
    }
}

fn owner(org: OrgId, key: &[u8]) -> String {
    format!("tern answer v1 {org} {}", domain::hex(key))
}
