//! The demo: a sandbox organisation with something to sell, something sold, and nothing real.

use domain::catalogue::Market;
use domain::ledger::Account;
use domain::order::Target;
use domain::{Currency, Iccid, Mode, OrgId, Secret, demo, limits};
use store::{StoreError, Tx, assignments, keys, orders, organisations, settings, users};

use crate::catalogue::Step;
use crate::house::owner;
use crate::orders::{Command, Intent, Line, Processing};
use crate::organisations::Change;
use crate::{Actor, App, idempotency};

/// What a first start made, or a later one found again.
#[derive(Debug)]
pub struct Demo {
    /// The demo organisation.
    pub organisation: OrgId,
    /// Its API key.
    pub api_key: Secret<String>,
    /// The operator's key.
    pub operator_key: Secret<String>,
    /// The address its user signs in with.
    pub portal_email: &'static str,
    /// And the password.
    pub portal_password: Secret<String>,
    /// The same for the operator's staff.
    pub console_email: &'static str,
    /// And the password.
    pub console_password: Secret<String>,
    /// Bundles of which it holds some.
    pub bundles: Vec<String>,
    /// Some of its eSIMs.
    pub iccids: Vec<Iccid>,
}

/// Why the demo could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database has been used for something else.
    #[error(
        "this database was not made by the demo, and the demo leaves it alone; \
         choose another folder with --data"
    )]
    NotADemo,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A key.
    #[error(transparent)]
    Key(#[from] crate::keys::Error),
    /// A user.
    #[error(transparent)]
    User(#[from] crate::users::Error),
    /// The test card.
    #[error(transparent)]
    Card(#[from] crate::sandbox::Error),
    /// An organisation.
    #[error(transparent)]
    Organisation(#[from] crate::organisations::Error),
    /// Its currency.
    #[error(transparent)]
    Currency(#[from] domain::money::Error),
    /// Its catalogue.
    #[error(transparent)]
    Catalogue(#[from] crate::catalogue::ImportError),
    /// Its stock.
    #[error(transparent)]
    Stock(#[from] crate::stock::Error),
    /// Its balance.
    #[error(transparent)]
    Credit(#[from] crate::credit::Error),
    /// What it buys.
    #[error(transparent)]
    Order(#[from] crate::orders::Error),
}

/// Name of the setting that holds the id of the demo's organisation.
const DEMO: &str = "demo-organisation";
const PORTAL_EMAIL: &str = "portal@demo.example";
const TRAVELLERS_EMAIL: &str = "travellers@demo.example";
const CONSOLE_EMAIL: &str = "console@demo.example";
/// Name of the setting that says that there are goods, and which eSIMs were sold.
const READY: &str = "demo-goods";
const CURRENCY: &str = "USD";
/// Profiles in stock: enough to play with for a while.
const STOCK: usize = 2_000;
/// eSIMs it has from the start.
const ESIMS: i64 = 5;
/// Bundles it holds from the start, and how many.
const HELD: [(&str, i64); 10] = [
    ("esim_1GB_7D_FR_V2", 200),
    ("esim_5GB_30D_FR_V2", 50),
    ("esim_1GB_7D_DE_V2", 100),
    ("esim_3GB_30D_ES_V2", 80),
    ("esim_1GB_7D_IT_V2", 100),
    ("esim_5GB_30D_GB_V2", 60),
    ("esim_1GB_7D_PT_V2", 150),
    ("esim_10GB_30D_US_V2", 50),
    ("esim_3GB_30D_JP_V2", 80),
    ("esim_2GB_15D_TH_V2", 120),
];

impl App {
    /// Sets up the demo, or finds what an earlier start has set up. A start that was killed
    /// half-way is finished by the next one. A database that the demo did not make is left alone.
    pub async fn demo(&self) -> Result<Demo, Error> {
        let organisation = self.demo_organisation().await?;
        let portal_password = Secret::new(self.vault().derived_word("demo portal password"));
        let console_password = Secret::new(self.vault().derived_word("demo console password"));
        let shown = organisation;
        let known = self.organisation_known_as(shown).await?;
        if known.is_none() {
            self.add_demo_organisation(shown).await?;
        }
        // Its developer may have started it afresh.
        let organisation = known.unwrap_or(shown);
        if self.store().read(|tx| keys::count(tx, OrgId::HOUSE)).await? == 0 {
            self.add_key(Actor::Service, OrgId::HOUSE, "first operator key", true).await?;
        }
        self.add_first_user(OrgId::HOUSE, CONSOLE_EMAIL, &console_password).await?;
        self.add_first_user(organisation, PORTAL_EMAIL, &portal_password).await?;
        let iccids = self.demo_goods(organisation).await?;
        Ok(Demo {
            organisation: shown,
            api_key: self.primary_key(organisation).await?,
            operator_key: self.primary_key(OrgId::HOUSE).await?,
            portal_email: PORTAL_EMAIL,
            portal_password,
            console_email: CONSOLE_EMAIL,
            console_password,
            bundles: HELD.iter().map(|(bundle, _)| (*bundle).to_owned()).collect(),
            iccids,
        })
    }

    /// The id of the demo's organisation, noted before anything else is made.
    async fn demo_organisation(&self) -> Result<OrgId, Error> {
        let fresh = self.org_id();
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                if let Some(noted) = settings::find(tx, DEMO)? {
                    let text = String::from_utf8(noted).unwrap_or_default();
                    return OrgId::parse(&text).map_err(|_| Error::NotADemo);
                }
                let used = keys::count(tx, OrgId::HOUSE)? > 0
                    || users::count(tx, OrgId::HOUSE)? > 0
                    || !organisations::page(tx, OrgId::HOUSE, 1)?.is_empty();
                if used {
                    return Err(Error::NotADemo);
                }
                settings::put_first(tx, DEMO, fresh.to_string().as_bytes())?;
                Ok(fresh)
            })
            .await
    }

    async fn add_demo_organisation(&self, id: OrgId) -> Result<(), Error> {
        let change = Change {
            name: Some("Demo Reseller".into()),
            tax_liable: Some("No".into()),
            addr1: Some("1 Demo Quay".into()),
            city: Some("Demoville".into()),
            country: Some("Nowhere".into()),
            postcode: Some("00000".into()),
            notes: Some("Made by `tern demo`; nothing in it is real.".into()),
            business_type: Some("Demo".into()),
            website: Some("https://reseller.example".into()),
            product_description: Some("Demo eSIMs for demo travellers".into()),
            ..Change::default()
        };
        let (actor, mode) = (Actor::Service, Mode::Sandbox);
        self.add_organisation_as(id, actor, (mode, CURRENCY), &change).await?;
        self.store_card(id, Some("pays")).await?;
        Ok(())
    }

    /// What the demo sells and has sold, unless an earlier start has seen to it. Every step can be
    /// repeated, so one that was killed half-way does no harm.
    async fn demo_goods(&self, org: OrgId) -> Result<Vec<Iccid>, Error> {
        if let Some(iccids) = self.store().read(|tx| settings::find(tx, READY)).await? {
            return Ok(read_iccids(&iccids));
        }
        let actor = Actor::Service;
        self.import_catalogue(actor, demo::catalogue(), Step::Apply).await?;
        let lines: Vec<_> = (1..).zip(demo::stock(STOCK)).collect();
        for chunk in lines.chunks(limits::STOCK_LINES_MAX) {
            self.import_stock(actor, Mode::Sandbox, chunk.to_vec()).await?;
        }
        self.demo_balance(org).await?;
        let lots = HELD.iter().map(|(bundle, quantity)| line(bundle, *quantity)).collect();
        self.demo_order(org, "demo lots", Target::Inventory, lots).await?;
        let esims = vec![line(HELD[0].0, ESIMS)];
        self.demo_order(org, "demo esims", Target::Esims, esims).await?;
        let iccids = self.store().read(move |tx| esims_of(tx, org)).await?;
        let text: Vec<_> = iccids.iter().map(ToString::to_string).collect();
        let text = text.join("\n");
        let noted = move |tx: &mut Tx<'_>| settings::put_first(tx, READY, text.as_bytes());
        self.store().write(OrgId::HOUSE, noted).await?;
        Ok(iccids)
    }

    /// Enough for what it buys here, and a thousand times the dearest of it many times over.
    async fn demo_balance(&self, org: OrgId) -> Result<(), Error> {
        let has = self.store().read(move |tx| store::heads::find(tx, org)).await?;
        let has = has.map_or(0, |head| head.on(Account::Available));
        let catalogue = self.catalogue().await?;
        let market = Market { currency: Currency::parse(CURRENCY)?, ..Market::none() };
        let price = |bundle: &str| {
            catalogue.offer(&market, bundle).map_or(0, |offer| offer.price.in_minor())
        };
        let cost: i64 = HELD.iter().map(|(bundle, quantity)| price(bundle) * quantity).sum();
        let dearest = HELD.iter().map(|(bundle, _)| price(bundle)).max().unwrap_or(0);
        let wanted = cost + dearest * 5_000;
        if has < wanted {
            self.credit(Actor::Service, org, wanted - has, "demo money").await?;
        }
        Ok(())
    }

    async fn demo_order(
        &self,
        org: OrgId,
        key: &str,
        target: Target,
        lines: Vec<Line>,
    ) -> Result<(), Error> {
        let command = Command {
            intent: Intent::Transaction,
            target,
            lines,
            processing: Processing::Now,
            source_ip: String::new(),
        };
        let request = idempotency::Request {
            key: Some(key.to_owned()),
            facts: key.as_bytes().to_vec(),
            form: String::new(),
            deed: None,
        };
        self.buy_as(org, command, &request).await.map(drop).map_err(Error::from)
    }

    /// A second organisation of that name, for travellers who are simulated, with somebody who can
    /// watch them in the portal; the address to sign in with. The password is the demo's.
    pub async fn demo_travellers(&self, name: &'static str) -> Result<&'static str, Error> {
        let known = self.store().read(|tx| organisations::page(tx, OrgId::HOUSE, 1_000)).await?;
        let known = known.iter().find(|known| known.profile.name == name);
        let org = if let Some(known) = known.map(|known| known.known_as) {
            self.organisation_known_as(known).await?.unwrap_or(known)
        } else {
            let change = Change { name: Some(name.into()), ..Change::default() };
            let (org, mode) = (self.org_id(), Mode::Sandbox);
            self.add_organisation_as(org, Actor::Service, (mode, CURRENCY), &change).await?;
            org
        };
        let password = Secret::new(self.vault().derived_word("demo portal password"));
        self.add_first_user(org, TRAVELLERS_EMAIL, &password).await?;
        Ok(TRAVELLERS_EMAIL)
    }

    /// Adds an owner unless the organisation has people.
    async fn add_first_user(
        &self,
        org: OrgId,
        email: &str,
        password: &Secret<String>,
    ) -> Result<(), Error> {
        if self.store().read(move |tx| users::count(tx, org)).await? == 0 {
            self.add_user(Actor::Service, org, owner("Demo", email, password)).await?;
        }
        Ok(())
    }

    async fn primary_key(&self, org: OrgId) -> Result<Secret<String>, Error> {
        let sealed = self.store().read(move |tx| keys::primary(tx, org)).await?;
        let missing = || StoreError::Corrupt { column: 0, row: org.to_string() };
        Ok(self.opened(org, sealed)?.ok_or_else(missing)?)
    }
}

fn line(bundle: &str, quantity: i64) -> Line {
    Line { bundle: bundle.to_owned(), quantity, iccids: vec![], allow_reassign: false }
}

/// The eSIMs of the orders there are so far.
fn esims_of(tx: &mut Tx<'_>, org: OrgId) -> Result<Vec<Iccid>, StoreError> {
    let page = domain::filter::Page { number: 1, size: 100 };
    let (orders, _) = orders::list(tx, org, &orders::Filter::default(), None, page)?;
    let ids: Vec<_> = orders.iter().map(|order| order.id).collect();
    let assigned = assignments::of_orders(tx, &ids)?;
    Ok(assigned.into_iter().map(|(_, one)| one.iccid).collect())
}

fn read_iccids(text: &[u8]) -> Vec<Iccid> {
    let text = String::from_utf8_lossy(text);
    text.lines().filter_map(|line| Iccid::parse(line).ok()).collect()
}
