//! Who is calling: the only way from a key to an organisation's data.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::catalogue::Market;
use domain::organisation::Billing;
use domain::{KeyId, Mode, OrgId, Organisation, limits};
use ipnet::IpNet;
use store::epochs::{self, Epoch};
use store::{StoreError, Tx, faults, keys, organisations};

use crate::{Actor, App};

/// A reseller's request, after its key was checked. Nothing else leads to an organisation's data.
#[derive(Debug, Clone)]
pub struct Caller(Arc<Grant>);

impl Caller {
    /// The organisation the key belongs to.
    pub fn org(&self) -> OrgId {
        self.0.org
    }

    /// The key it came with; a person at a browser has none.
    pub fn key(&self) -> Option<KeyId> {
        self.0.key
    }

    /// Sandbox or live.
    pub fn mode(&self) -> Mode {
        self.0.mode
    }

    /// Requests per second and key, where the operator has set a limit.
    pub fn rate_limit(&self) -> Option<u32> {
        self.0.rate_limit
    }

    /// What it sees for sale.
    pub fn market(&self) -> &Market {
        &self.0.market
    }

    /// Whether it wants something to go wrong.
    pub fn has_faults(&self) -> bool {
        self.0.has_faults
    }

    /// How it pays.
    pub fn billing(&self) -> Billing {
        self.0.billing
    }
}

/// A request of the operator, after its key was checked.
#[derive(Debug, Clone)]
pub struct Operator(KeyId);

impl Operator {
    /// How it appears in the audit log.
    pub fn actor(&self) -> Actor {
        Actor::Operator(self.0)
    }
}

/// Why a key does not open the door. On the wire all of these look alike.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// Unknown, revoked, or a key for another door.
    #[error("no such key")]
    BadKey,
    /// The key is good but may not be used from there.
    #[error("address not on the allow list")]
    Address,
    /// The database cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a key opens.
#[derive(Debug)]
struct Grant {
    key: Option<KeyId>,
    org: OrgId,
    mode: Mode,
    /// None = from everywhere.
    allow_list: Option<Vec<IpNet>>,
    rate_limit: Option<u32>,
    market: Market,
    billing: Billing,
    has_faults: bool,
}

impl App {
    /// The caller with this API key from this address.
    pub async fn caller(&self, key: &str, from: IpAddr) -> Result<Caller, Denied> {
        let grant = self.grant(key).await?.ok_or(Denied::BadKey)?;
        if grant.org == OrgId::HOUSE {
            return Err(Denied::BadKey);
        }
        let allowed = grant.allow_list.as_ref().is_none_or(|list| holds(list, from));
        if allowed { Ok(Caller(grant)) } else { Err(Denied::Address) }
    }

    /// The operator with this key.
    pub async fn operator(&self, key: &str) -> Result<Operator, Denied> {
        match self.grant(key).await? {
            Some(grant) if grant.org == OrgId::HOUSE => {
                grant.key.map(Operator).ok_or(Denied::BadKey)
            }
            _ => Err(Denied::BadKey),
        }
    }

    async fn grant(&self, key: &str) -> Result<Option<Arc<Grant>>, StoreError> {
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            return Ok(None);
        }
        let digest = self.vault().digest(key);
        let now = self.rt().monotonic();
        match self.access().remembered(&digest, now) {
            Memory::Opens(grant) => return Ok(Some(grant)),
            Memory::Wrong => return Ok(None),
            Memory::Unsure => {}
        }
        let (grant, epoch) = self
            .store()
            .read(move |tx| {
                Ok::<_, StoreError>((load(tx, &digest)?, epochs::read(tx, Epoch::Access)?))
            })
            .await?;
        let grant = grant.map(Arc::new);
        self.access().remember(digest, grant.clone(), epoch);
        Ok(grant)
    }

    /// Asks the database whether keys, settings or the catalogue changed; forgets what did.
    pub async fn refresh_access(&self) -> Result<(), StoreError> {
        let asked_at = self.rt().monotonic();
        let (access, catalogue) = self
            .store()
            .read_first(|tx| {
                let catalogue = epochs::read(tx, Epoch::Catalogue)?;
                Ok::<_, StoreError>((epochs::read(tx, Epoch::Access)?, catalogue))
            })
            .await?;
        if self.access().confirm(access, asked_at) {
            self.store().written_elsewhere();
        }
        self.shelf().heard(catalogue);
        Ok(())
    }

    /// Lets the nodes know that a command has written what they may remember.
    pub async fn tell_nodes(&self) -> Result<(), StoreError> {
        self.store().write(OrgId::HOUSE, |tx| epochs::bump(tx, Epoch::Access)).await
    }

    /// Keeps asking, for as long as the service runs.
    pub async fn watch_access(self) {
        loop {
            // A failure needs no handling: what is remembered grows stale by itself.
            let _stale = self.refresh_access().await;
            self.rt().sleep(limits::EPOCH_POLL).await;
        }
    }
}

/// Ours have 53 characters at most; longer ones need not be digested.
const KEY_BYTES_MAX: usize = 200;

fn load(tx: &mut Tx<'_>, digest: &[u8]) -> Result<Option<Grant>, StoreError> {
    let Some(key) = keys::by_digest(tx, digest)?.filter(|key| key.revoked_at.is_none()) else {
        return Ok(None);
    };
    if key.org == OrgId::HOUSE {
        let market = Market::none();
        return Ok(Some(Grant {
            key: Some(key.id),
            org: key.org,
            mode: Mode::Live,
            allow_list: None,
            rate_limit: None,
            market,
            billing: Billing::Prepaid,
            has_faults: false,
        }));
    }
    let Some(organisation) = organisations::find(tx, key.org)? else { return Ok(None) };
    let mut grant = Grant::of(&organisation);
    grant.key = Some(key.id);
    grant.has_faults =
        organisation.mode == Mode::Sandbox && !faults::of_org(tx, organisation.id)?.is_empty();
    // A list whose entries cannot be read allows nobody rather than everybody.
    let list = &organisation.settings.ip_allow_list;
    grant.allow_list =
        (!list.is_empty()).then(|| list.iter().filter_map(|text| network(text)).collect());
    Ok(Some(grant))
}

impl Grant {
    /// What whoever belongs to an organisation may do, from everywhere.
    fn of(organisation: &Organisation) -> Self {
        Self {
            key: None,
            org: organisation.id,
            mode: organisation.mode,
            allow_list: None,
            rate_limit: organisation.settings.rate_limit,
            market: organisation.market(),
            billing: organisation.settings.billing,
            has_faults: false,
        }
    }
}

impl Caller {
    /// A person of the organisation, whose session was checked.
    pub(crate) fn person_of(organisation: &Organisation) -> Self {
        Self(Arc::new(Grant::of(organisation)))
    }
}

/// An address or a network in CIDR form; an address alone is a network of one.
pub fn network(text: &str) -> Option<IpNet> {
    let parsed = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    parsed.ok().map(|network| network.trunc())
}

/// Whether keys are taken from there under that list; an empty one is everywhere.
pub fn is_allowed(list: &[String], from: IpAddr) -> bool {
    let networks: Vec<_> = list.iter().filter_map(|text| network(text)).collect();
    list.is_empty() || holds(&networks, from)
}

fn holds(networks: &[IpNet], address: IpAddr) -> bool {
    // A client that speaks IPv4 to an IPv6 socket is still an IPv4 client.
    let address = address.to_canonical();
    networks.iter().any(|network| network.contains(&address))
}

/// What this node knows of a key.
enum Memory {
    Opens(Arc<Grant>),
    Wrong,
    /// It must be asked for.
    Unsure,
}

/// Keys this node remembers. Trusted only while the epoch was confirmed a moment ago.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    epoch: i64,
    confirmed_at: Option<Duration>,
    grants: HashMap<[u8; 32], Arc<Grant>>,
    wrong: HashSet<[u8; 32]>,
}

impl Cache {
    fn remembered(&self, digest: &[u8; 32], now: Duration) -> Memory {
        let remembered = self.lock();
        let fresh = |at: Duration| now.saturating_sub(at) < limits::EPOCH_TRUST;
        if !remembered.confirmed_at.is_some_and(fresh) {
            return Memory::Unsure;
        }
        if remembered.wrong.contains(digest) {
            return Memory::Wrong;
        }
        remembered.grants.get(digest).cloned().map_or(Memory::Unsure, Memory::Opens)
    }

    fn remember(&self, digest: [u8; 32], grant: Option<Arc<Grant>>, epoch: i64) {
        let mut remembered = self.lock();
        // What was read under another epoch than the confirmed one may be stale already.
        if remembered.epoch != epoch {
            return;
        }
        let Some(grant) = grant else {
            if remembered.wrong.len() >= limits::WRONG_KEYS_MAX {
                remembered.wrong.clear();
            }
            remembered.wrong.insert(digest);
            return;
        };
        if remembered.grants.len() >= limits::KEY_CACHE_MAX {
            remembered.grants.clear();
        }
        remembered.grants.insert(digest, grant);
    }

    /// Trusts nothing until the epoch is confirmed again.
    pub(crate) fn distrust(&self) {
        self.lock().confirmed_at = None;
    }

    /// Says whether something has changed.
    fn confirm(&self, epoch: i64, asked_at: Duration) -> bool {
        let mut remembered = self.lock();
        // Epochs only grow: an answer that was overtaken says nothing new.
        if epoch < remembered.epoch {
            return false;
        }
        let has_changed = remembered.epoch != epoch;
        if has_changed {
            remembered.grants.clear();
            remembered.wrong.clear();
            remembered.epoch = epoch;
        }
        remembered.confirmed_at = Some(asked_at);
        has_changed
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
