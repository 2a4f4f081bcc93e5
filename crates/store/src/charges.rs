//! Stored cards and the charges made to them.

use domain::{OrgId, Timestamp};

use crate::sealed::Sealed;
use crate::{Row, StoreError, Tx, args};

/// What is known of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Asked for; the far side has not decided.
    Undecided,
    /// Paid and credited.
    Paid,
    /// Declined.
    Declined,
}

impl State {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undecided => "undecided",
            Self::Paid => "paid",
            Self::Declined => "declined",
        }
    }

    fn parse(text: &str) -> Result<Self, ()> {
        let all = [Self::Undecided, Self::Paid, Self::Declined];
        all.into_iter().find(|state| state.name() == text).ok_or(())
    }
}

/// A charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Its number, the `ref` of the top-up; given by the database.
    pub id: i64,
    /// Whose.
    pub org: OrgId,
    /// `apiTopup` or `autoTopup`.
    pub kind: String,
    /// How much, in minor units.
    pub amount: i64,
    /// What is known of it.
    pub state: State,
    /// Names it at the payment provider.
    pub reference: String,
    /// In which form whoever asked wants its answer; opaque here.
    pub form: String,
    /// Digest of the idempotency key it came with.
    pub key_digest: Option<Vec<u8>>,
    /// Balance and test credit after it was credited.
    pub after: Option<(i64, i64)>,
    /// When it was asked for, by the organisation's clock.
    pub created_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
}

/// The card of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeCard {
    /// What it is called.
    pub label: String,
    /// The card.
    pub sealed: Sealed,
    /// When it was entered, where it is to be stored if it pays.
    pub new_at: Option<Timestamp>,
}

const PUT_CARD: &str = "INSERT INTO cards (org_id, label, sealed, vault_key, created_at) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (org_id) DO UPDATE SET label = excluded.label, \
     sealed = excluded.sealed, vault_key = excluded.vault_key, created_at = excluded.created_at";
const REMOVE_CARD: &str = "DELETE FROM cards WHERE org_id = $1";
const INSERT: &str = "INSERT INTO charges (org_id, kind, amount, state, reference, form, \
     key_digest, created_at) VALUES ($1, $2, $3, 'undecided', $4, $5, $6, $7) RETURNING id";
const FIND: &str = "SELECT id, org_id, kind, amount, state, reference, form, key_digest, \
     balance_after, test_credit_after, created_at, decided_at FROM charges \
     WHERE org_id = $1 AND id = $2";
const PAGE: &str = "SELECT id, org_id, kind, amount, state, reference, form, key_digest, \
     balance_after, test_credit_after, created_at, decided_at FROM charges \
     WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3";
const UNDECIDED: &str = "SELECT COUNT(*) FROM charges WHERE org_id = $1 AND state = 'undecided' \
     AND kind = $2 AND key_digest IS NULL";
const SINCE: &str = "SELECT SUM(amount) FROM charges WHERE org_id = $1 AND created_at >= $2 \
     AND state <> 'declined'";
const DECIDE: &str = "UPDATE charges SET state = $3, balance_after = $4, test_credit_after = $5, \
     decided_at = $6 WHERE org_id = $1 AND id = $2 AND state = 'undecided'";

const ANY_UNDECIDED: &str = "SELECT id FROM charges WHERE org_id = $1 AND state = 'undecided' \
     LIMIT 1";
const CARD: &str = "SELECT label, sealed, vault_key FROM cards WHERE org_id = $1";
const PUT_CHARGE_CARD: &str = "INSERT INTO charge_cards (charge_id, label, sealed, vault_key, \
     new_at) VALUES ($1, $2, $3, $4, $5)";
const CHARGE_CARD: &str = "SELECT label, sealed, vault_key, new_at FROM charge_cards \
     WHERE charge_id = $1";
const DROP_CHARGE_CARD: &str = "DELETE FROM charge_cards WHERE charge_id = $1";
const LABEL: &str = "SELECT label FROM cards WHERE org_id = $1";

/// Stores a card in place of any other.
pub fn put_card(
    tx: &mut Tx<'_>,
    org: OrgId,
    label: &str,
    card: &Sealed,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Sealed { bytes, vault_key } = card;
    tx.exec(PUT_CARD, args![org, label, bytes.as_slice(), vault_key, now]).map(drop)
}

/// Forgets the card.
pub fn remove_card(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.exec(REMOVE_CARD, args![org]).map(drop)
}

/// The stored card with what it is called.
pub fn card(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<(String, Sealed)>, StoreError> {
    let Some(row) = tx.maybe(CARD, args![org])? else { return Ok(None) };
    Ok(Some((row.text(0)?.to_owned(), Sealed::from_row(&row, 1)?)))
}

/// What the stored card is called.
pub fn card_label(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<String>, StoreError> {
    tx.maybe(LABEL, args![org])?.map(|row| row.text(0).map(ToOwned::to_owned)).transpose()
}

/// Keeps the card of a charge, which is charged at every attempt.
pub fn put_charge_card(tx: &mut Tx<'_>, charge: i64, card: &ChargeCard) -> Result<(), StoreError> {
    let ChargeCard { label, sealed: Sealed { bytes, vault_key }, new_at } = card;
    tx.later(PUT_CHARGE_CARD, args![charge, label, bytes.as_slice(), vault_key, *new_at])
}

/// The card of a charge that is not decided.
pub fn charge_card(tx: &mut Tx<'_>, charge: i64) -> Result<Option<ChargeCard>, StoreError> {
    let Some(row) = tx.maybe(CHARGE_CARD, args![charge])? else { return Ok(None) };
    let (label, sealed) = (row.text(0)?.to_owned(), Sealed::from_row(&row, 1)?);
    Ok(Some(ChargeCard { label, sealed, new_at: row.time_or_none(3)? }))
}

/// Forgets it, once the charge is decided.
pub fn drop_charge_card(tx: &mut Tx<'_>, charge: i64) -> Result<(), StoreError> {
    tx.later(DROP_CHARGE_CARD, args![charge])
}

/// Adds an undecided charge and says its number.
pub fn insert(tx: &mut Tx<'_>, charge: &Charge) -> Result<i64, StoreError> {
    let Charge { org, kind, amount, reference, form, key_digest, created_at, .. } = charge;
    let key = key_digest.as_deref();
    tx.one(INSERT, args![*org, kind, *amount, reference, form, key, *created_at])?.int(0)
}

/// That charge, if it is this organisation's.
pub fn find(tx: &mut Tx<'_>, org: OrgId, id: i64) -> Result<Option<Charge>, StoreError> {
    tx.maybe(FIND, args![org, id])?.map(|row| charge(&row)).transpose()
}

/// Charges of an organisation in order, after that number.
pub fn page(tx: &mut Tx<'_>, org: OrgId, after: i64, most: i64) -> Result<Vec<Charge>, StoreError> {
    tx.all(PAGE, args![org, after, most])?.iter().map(charge).collect()
}

/// How many charges of a kind that came without a key are undecided.
pub fn undecided(tx: &mut Tx<'_>, org: OrgId, kind: &str) -> Result<i64, StoreError> {
    tx.one(UNDECIDED, args![org, kind])?.int(0)
}

/// Whether any charge is undecided.
pub fn is_any_undecided(tx: &mut Tx<'_>, org: OrgId) -> Result<bool, StoreError> {
    Ok(tx.maybe(ANY_UNDECIDED, args![org])?.is_some())
}

/// What was charged, or may yet be, since a moment.
pub fn charged_since(tx: &mut Tx<'_>, org: OrgId, since: Timestamp) -> Result<i64, StoreError> {
    Ok(tx.one(SINCE, args![org, since])?.int_or_none(0)?.unwrap_or(0))
}

/// Decides a charge; false if it was decided before.
pub fn decide(
    tx: &mut Tx<'_>,
    charge: &Charge,
    state: State,
    after: Option<(i64, i64)>,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let (balance, credit) = after.unzip();
    let args = args![charge.org, charge.id, state.name(), balance, credit, now];
    Ok(tx.exec(DECIDE, args)? == 1)
}

fn charge(row: &Row) -> Result<Charge, StoreError> {
    Ok(Charge {
        id: row.int(0)?,
        org: row.parsed(1, OrgId::parse)?,
        kind: row.text(2)?.to_owned(),
        amount: row.int(3)?,
        state: row.parsed(4, State::parse)?,
        reference: row.text(5)?.to_owned(),
        form: row.text(6)?.to_owned(),
        key_digest: row.bytes_or_none(7)?.map(<[u8]>::to_vec),
        after: row.int_or_none(8)?.zip(row.int_or_none(9)?),
        created_at: row.time(10)?,
        decided_at: row.time_or_none(11)?,
    })
}
