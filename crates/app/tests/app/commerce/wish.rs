//! What a client can ask for, and what it can hear.

use std::fmt;

use app::idempotency::{self, Request};
use app::orders::{Command, Line};
use app::{Answer, inventory, orders, topup};

use crate::world::World;

#[derive(Clone)]
pub(crate) enum Wish {
    Buy(Command),
    /// So many units of the lot of that number for money.
    Refund(i64, i64),
    Topup(i64),
}

/// In short: one line of a failed history, and what a key is bound to.
impl fmt::Debug for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = match self {
            Self::Refund(usage, units) => return write!(f, "refund {units} of lot {usage}"),
            Self::Topup(amount) => return write!(f, "top up {amount}"),
            Self::Buy(command) => command,
        };
        let Command { intent, target, lines, processing, .. } = command;
        write!(f, "{intent:?} {} {processing:?}", target.name())?;
        for Line { bundle, quantity, iccids, allow_reassign } in lines {
            write!(f, ", {quantity} {bundle}")?;
            for iccid in iccids {
                write!(f, " {iccid}")?;
            }
            write!(f, "{}", if *allow_reassign { " (or another)" } else { "" })?;
        }
        Ok(())
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsaid {
    BalanceTooLow,
    OutOfStock,
    Undecided,
    OtherRequest,
    Died,
}

impl World {
    /// Asks on behalf of an organisation.
    pub(crate) fn ask(&self, n: usize, key: Option<&str>, wish: &Wish) -> Result<Answer, Unsaid> {
        let request = Request {
            key: key.map(str::to_owned),
            facts: format!("{wish:?}").into_bytes(),
            form: "v2.5".to_owned(),
            deed: None,
        };
        let (app, caller) = (self.app(), self.caller_of(n));
        match wish {
            Wish::Buy(command) => Ok(self.wait(app.buy(caller, command.clone(), &request))?),
            Wish::Refund(usage, units) => {
                let ip = "192.0.2.17".to_owned();
                Ok(self.wait(app.refund(caller, (*usage, *units), ip, &request))?)
            }
            Wish::Topup(amount) => Ok(self.wait(app.topup(caller, *amount, &request))?),
        }
    }
}

impl From<idempotency::Error> for Unsaid {
    fn from(error: idempotency::Error) -> Self {
        match error {
            idempotency::Error::OtherRequest => Self::OtherRequest,
            idempotency::Error::BadKey(_) => unreachable!("the keys are good"),
        }
    }
}

impl From<orders::Error> for Unsaid {
    fn from(error: orders::Error) -> Self {
        match error {
            orders::Error::BalanceTooLow => Self::BalanceTooLow,
            orders::Error::OutOfStock => Self::OutOfStock,
            orders::Error::Key(key) => key.into(),
            orders::Error::Store(_) => Self::Died,
        }
    }
}

impl From<inventory::Error> for Unsaid {
    fn from(error: inventory::Error) -> Self {
        match error {
            inventory::Error::Key(key) => key.into(),
            inventory::Error::Store(_) => Self::Died,
        }
    }
}

impl From<topup::Error> for Unsaid {
    fn from(error: topup::Error) -> Self {
        match error {
            topup::Error::Undecided => Self::Undecided,
            topup::Error::Key(key) => key.into(),
            topup::Error::Store(_) => Self::Died,
        }
    }
}
