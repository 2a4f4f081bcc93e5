//! What is needed to install the eSIMs of orders and applies, page by page: a download of any size
//! holds one page at a time.

use std::collections::{HashMap, HashSet};

use domain::esim::{InstallCode, ProfileStatus};
use domain::order::{Assigned, Order, Status};
use domain::stock::Secrets;
use domain::{Iccid, OrderId, OrgId, Secret, Timestamp, limits};
use store::assignments;
use store::esims::{self, Install};
use store::{StoreError, Tx, orders};

use crate::{App, Caller};

/// An eSIM of an order, with what is needed to install it.
#[derive(Debug, Clone)]
pub struct Installable {
    /// How to install it.
    pub code: InstallCode,
    /// The bundle that went onto it.
    pub bundle: String,
    /// The reference of the order or apply.
    pub reference: String,
    /// What its installation server says of it.
    pub status: ProfileStatus,
    /// Unlocks it; may be empty.
    pub pin: Secret<String>,
    /// Unlocks the PIN; may be empty.
    pub puk: Secret<String>,
    /// When it was installed for the first time.
    pub first_installed_at: Option<Timestamp>,
}

/// Why there is nothing to download.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such order, or it has put nothing on eSIMs.
    #[error("reference not found")]
    UnknownReference,
    /// It is still worked on.
    #[error("order is still processing, try again later")]
    StillProcessing,
    /// Its eSIMs are dead for good.
    #[error("esim is deactivated")]
    Deactivated,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A download that has been checked and can begin.
pub struct Download {
    app: App,
    org: OrgId,
    parts: std::vec::IntoIter<Part>,
    current: Option<Part>,
}

/// What one reference stands for.
#[derive(Debug, Clone)]
struct Part {
    order: OrderId,
    reference: String,
    from: i64,
    /// Not beyond this one, which is counted in.
    to: i64,
}

impl App {
    /// Checks references of the caller; the first that is wrong stops all, and one that is given
    /// twice counts once.
    pub async fn download(
        &self,
        caller: &Caller,
        references: Vec<String>,
    ) -> Result<Download, Error> {
        let org = caller.org();
        let mut seen = HashSet::new();
        let references: Vec<_> =
            references.into_iter().filter(|reference| seen.insert(reference.clone())).collect();
        let parts = self
            .store()
            .read(move |tx| -> Result<Vec<_>, Error> {
                references.iter().map(|reference| part(tx, org, reference)).collect()
            })
            .await?;
        Ok(Download { app: self.clone(), org, parts: parts.into_iter(), current: None })
    }
}

fn part(tx: &mut Tx<'_>, org: OrgId, reference: &str) -> Result<Part, Error> {
    let whole = orders::find(tx, org, reference)?.map(|order| (order, 0, i64::MAX));
    let found = match whole {
        Some(found) => Some(found),
        None => numbered(tx, org, reference)?,
    };
    let (order, from, to) = found.ok_or(Error::UnknownReference)?;
    match order.status {
        Status::Processing => return Err(Error::StillProcessing),
        // Its eSIMs went back, and may be another order's by now.
        Status::Failed => return Err(Error::UnknownReference),
        Status::Completed => {}
    }
    let part = Part { order: order.id, reference: order.reference, from, to };
    match assignments::install_states(tx, org, part.order, (from, to))? {
        (0, _) => Err(Error::UnknownReference),
        (all, dead) if all == dead => Err(Error::Deactivated),
        _ => Ok(part),
    }
}

/// `<reference>-<n>`.
fn numbered(
    tx: &mut Tx<'_>,
    org: OrgId,
    reference: &str,
) -> Result<Option<(Order, i64, i64)>, StoreError> {
    let Some((whole, number)) = reference.rsplit_once('-') else { return Ok(None) };
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let Some(n) = number.parse().ok().filter(|_| is_number) else { return Ok(None) };
    Ok(orders::find(tx, org, whole)?.map(|order| (order, n, n)))
}

impl Download {
    /// The next eSIMs, all of one reference; none when all were given. Those that are dead, or have
    /// left the organisation, are left out.
    pub async fn next(&mut self) -> Result<Option<Vec<Installable>>, StoreError> {
        loop {
            let Some(mut part) = self.current.take().or_else(|| self.parts.next()) else {
                return Ok(None);
            };
            let (org, wanted) = (self.org, part.clone());
            let page = self.app.store().read(move |tx| page(tx, org, &wanted)).await?;
            let Some(last) = page.last().map(|(assigned, _)| assigned.n) else { continue };
            let is_full = i64::try_from(page.len()) == Ok(limits::DOWNLOAD_PAGE);
            if is_full && last < part.to {
                part.from = last + 1;
                self.current = Some(part.clone());
            }
            let given = self.open(&part.reference, page)?;
            if !given.is_empty() {
                return Ok(Some(given));
            }
        }
    }

    fn open(&self, reference: &str, page: Page) -> Result<Vec<Installable>, StoreError> {
        let alive = |(assigned, install): (Assigned, Option<Install>)| {
            let install = install.filter(|one| one.status != ProfileStatus::Deactivated)?;
            Some((assigned.bundle.to_string(), install))
        };
        let open = |(bundle, install): (String, Install)| {
            let Install { iccid, smdp_address, sealed, status, first_installed_at } = install;
            let Secrets { matching_id, pin, puk, .. } = self.app.secrets(&iccid, &sealed)?;
            let code = InstallCode { iccid, matching_id, smdp_address };
            let reference = reference.to_owned();
            Ok(Installable { code, bundle, reference, status, pin, puk, first_installed_at })
        };
        page.into_iter().filter_map(alive).map(open).collect()
    }
}

type Page = Vec<(Assigned, Option<Install>)>;

fn page(tx: &mut Tx<'_>, org: OrgId, part: &Part) -> Result<Page, StoreError> {
    let most = part.to.saturating_sub(part.from).saturating_add(1).min(limits::DOWNLOAD_PAGE);
    let assigned = assignments::page_of_order(tx, part.order, part.from, most)?;
    let iccids: Vec<Iccid> = assigned.iter().map(|one| one.iccid.clone()).collect();
    let installs: HashMap<_, _> = esims::install(tx, org, &iccids)?
        .into_iter()
        .map(|install| (install.iccid.clone(), install))
        .collect();
    let with = |one: Assigned| {
        let install = installs.get(&one.iccid).cloned();
        (one, install)
    };
    Ok(assigned.into_iter().map(with).collect())
}
