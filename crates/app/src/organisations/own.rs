//! What people of an organisation change about it themselves. What the operator decides (rates,
//! prices, refunds, bounds, groups, senders) has no place here, so no form can reach it.

use domain::Right;
use store::StoreError;

use super::{Change, Detail, Error};
use crate::App;
use crate::people::Member;

/// Something an organisation decides about itself.
#[derive(Debug, Clone)]
pub enum OwnChange {
    /// What it says of itself.
    Details(Details),
    /// Where callbacks go, in which form, and of what.
    Callbacks(Callbacks),
    /// The addresses and networks its keys are taken from; none are all.
    AllowList(Vec<String>),
    /// Tops up by itself: below which balance, and by how much, in minor units; none = not at all.
    AutoTopup(Option<(i64, i64)>),
}

/// What an organisation says of itself; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct Details {
    pub name: Option<String>,
    pub addr1: Option<String>,
    pub addr2: Option<String>,
    pub city: Option<String>,
    pub country: Option<String>,
    pub postcode: Option<String>,
    pub notes: Option<String>,
    pub business_type: Option<String>,
    pub website: Option<String>,
    pub product_description: Option<String>,
}

/// How an organisation wants to be told; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct Callbacks {
    /// The empty text takes the address away. Any other one switches callbacks on.
    pub url: Option<String>,
    /// `V2` or `V3`.
    pub version: Option<String>,
    /// `every` or `steps`.
    pub usage_events: Option<String>,
    /// Percentages; none at all are the usual ones.
    pub usage_steps: Option<Vec<i64>>,
    /// Kinds beside usage.
    pub events: Option<Vec<String>>,
    /// In minor units; zero is the usual one.
    pub low_balance: Option<i64>,
}

/// Why an organisation stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// The person's role does not allow it.
    #[error("the role does not allow this")]
    Forbidden,
    /// It does not fit.
    #[error(transparent)]
    Unfit(Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Error> for OwnError {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => Self::Store(error),
            error => Self::Unfit(error),
        }
    }
}

impl OwnChange {
    /// What it takes.
    pub fn right(&self) -> Right {
        match self {
            Self::Details(_) => Right::Manage,
            Self::Callbacks(_) | Self::AllowList(_) => Right::Develop,
            Self::AutoTopup(_) => Right::Pay,
        }
    }

    fn wanted(self) -> Change {
        match self {
            Self::Details(details) => Change {
                name: details.name,
                addr1: details.addr1,
                addr2: details.addr2,
                city: details.city,
                country: details.country,
                postcode: details.postcode,
                notes: details.notes,
                business_type: details.business_type,
                website: details.website,
                product_description: details.product_description,
                ..Change::default()
            },
            Self::Callbacks(callbacks) => Change {
                callback_url: callbacks.url,
                callback_version: callbacks.version,
                usage_events: callbacks.usage_events,
                usage_steps: callbacks.usage_steps,
                callback_events: callbacks.events,
                low_balance: callbacks.low_balance,
                ..Change::default()
            },
            Self::AllowList(networks) => {
                Change { ip_allow_list: Some(networks), ..Change::default() }
            }
            Self::AutoTopup(auto) => {
                // Zero takes both away.
                let (threshold, amount) = auto.unwrap_or_default();
                Change {
                    auto_topup_threshold: Some(threshold),
                    auto_topup_amount: Some(amount),
                    ..Change::default()
                }
            }
        }
    }
}

impl App {
    /// Changes something of the member's organisation, as far as the role allows it.
    pub async fn change_own(&self, member: &Member, change: OwnChange) -> Result<Detail, OwnError> {
        if !member.may(change.right()) {
            return Err(OwnError::Forbidden);
        }
        Ok(self.change_organisation(member.actor(), member.org(), change.wanted()).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> [OwnChange; 4] {
        let some = || Some("x".to_owned());
        let details = Details {
            name: some(),
            addr1: some(),
            addr2: some(),
            city: some(),
            country: some(),
            postcode: some(),
            notes: some(),
            business_type: some(),
            website: some(),
            product_description: some(),
        };
        let callbacks = Callbacks {
            url: some(),
            version: some(),
            usage_events: some(),
            usage_steps: Some(vec![50]),
            events: Some(vec![]),
            low_balance: Some(1),
        };
        [
            OwnChange::Details(details),
            OwnChange::Callbacks(callbacks),
            OwnChange::AllowList(vec![]),
            OwnChange::AutoTopup(None),
        ]
    }

    #[test]
    fn nothing_of_the_operators_is_ever_named() {
        let named: Vec<_> =
            everything().into_iter().flat_map(|change| change.wanted().named()).collect();
        let operators = [
            "taxLiable",
            "groups",
            "senders",
            "rateLimit",
            "topupMinimum",
            "topupDailyMaximum",
            "priceList",
            "refundDays",
            "billing",
        ];
        assert_eq!(named.len(), 19);
        assert!(operators.iter().all(|field| !named.contains(field)), "{named:?}");
    }

    #[test]
    fn each_change_takes_its_right() {
        let rights = everything().map(|change| change.right());
        assert_eq!(rights, [Right::Manage, Right::Develop, Right::Develop, Right::Pay]);
    }
}
