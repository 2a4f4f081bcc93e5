//! What an organisation wants changed about itself, field by field.

use domain::assignment::STEPS;
use domain::event;
use domain::organisation::{
    Billing, CallbackVersion, Profile, Settings, TopupSettings, UsageEvents,
};
use domain::{CallbackUrl, Organisation, limits};

use super::{Change, Error};
use crate::access;

impl Change {
    /// Every text field with its name on the wire.
    fn texts(&self) -> [(&'static str, &Option<String>); 11] {
        [
            ("name", &self.name),
            ("taxLiable", &self.tax_liable),
            ("addr1", &self.addr1),
            ("addr2", &self.addr2),
            ("city", &self.city),
            ("country", &self.country),
            ("postcode", &self.postcode),
            ("notes", &self.notes),
            ("businessType", &self.business_type),
            ("website", &self.website),
            ("productDescription", &self.product_description),
        ]
    }

    /// The names of the fields that are to change, for the audit log.
    pub(super) fn named(&self) -> Vec<&'static str> {
        let texts = self.texts().into_iter().filter(|(_, text)| text.is_some()).map(|(n, _)| n);
        let others = [
            ("groups", self.groups.is_some()),
            ("callbackUrl", self.callback_url.is_some()),
            ("callbackVersion", self.callback_version.is_some()),
            ("usageEvents", self.usage_events.is_some()),
            ("usageSteps", self.usage_steps.is_some()),
            ("callbackEvents", self.callback_events.is_some()),
            ("lowBalance", self.low_balance.is_some()),
            ("senders", self.senders.is_some()),
            ("ipAllowList", self.ip_allow_list.is_some()),
            ("rateLimit", self.rate_limit.is_some()),
            ("topupMinimum", self.topup_minimum.is_some()),
            ("topupDailyMaximum", self.topup_daily_maximum.is_some()),
            ("autoTopupThreshold", self.auto_topup_threshold.is_some()),
            ("autoTopupAmount", self.auto_topup_amount.is_some()),
            ("priceList", self.price_list.is_some()),
            ("refundDays", self.refund_days.is_some()),
            ("billing", self.billing.is_some()),
        ];
        texts.chain(others.into_iter().filter(|(_, set)| *set).map(|(name, _)| name)).collect()
    }

    pub(super) fn apply(&self, organisation: &mut Organisation) -> Result<(), Error> {
        for (field, text) in self.texts() {
            let long = |text: &String| text.chars().count() > limits::TEXT_CHARS_MAX;
            if text.as_ref().is_some_and(long) {
                return Err(Error::Field { field, why: "must be at most 1000 characters" });
            }
        }
        self.apply_profile(&mut organisation.profile);
        self.apply_settings(&mut organisation.settings)
    }

    fn apply_profile(&self, profile: &mut Profile) {
        let set = |field: &mut String, wanted: &Option<String>| {
            if let Some(text) = wanted {
                field.clone_from(text);
            }
        };
        set(&mut profile.name, &self.name);
        set(&mut profile.tax_liable, &self.tax_liable);
        set(&mut profile.addr1, &self.addr1);
        set(&mut profile.addr2, &self.addr2);
        set(&mut profile.city, &self.city);
        set(&mut profile.country, &self.country);
        set(&mut profile.postcode, &self.postcode);
        set(&mut profile.notes, &self.notes);
        set(&mut profile.business_type, &self.business_type);
        set(&mut profile.website, &self.website);
        set(&mut profile.product_description, &self.product_description);
    }

    fn apply_settings(&self, settings: &mut Settings) -> Result<(), Error> {
        if let Some(groups) = &self.groups {
            settings.groups = lines("groups", groups)?;
        }
        self.apply_callbacks(settings)?;
        if let Some(senders) = &self.senders {
            settings.senders = lines("senders", senders)?;
        }
        if let Some(networks) = &self.ip_allow_list {
            settings.ip_allow_list = lines("ipAllowList", networks)?
                .iter()
                .map(|text| network(text))
                .collect::<Result<_, _>>()?;
        }
        if let Some(limit) = self.rate_limit {
            settings.rate_limit = rate_limit(limit)?;
        }
        self.apply_sales(settings)?;
        self.apply_topup(&mut settings.topup)
    }

    /// Where callbacks go, in which form, and of what.
    fn apply_callbacks(&self, settings: &mut Settings) -> Result<(), Error> {
        if let Some(url) = &self.callback_url {
            settings.callback_url = parsed_url(url)?;
        }
        if let Some(version) = &self.callback_version {
            let odd = Error::Field { field: "callbackVersion", why: "must be V2 or V3" };
            settings.callback_version = CallbackVersion::parse(version).ok_or(odd)?;
        }
        if let Some(events) = &self.usage_events {
            let odd = Error::Field { field: "usageEvents", why: "must be every or steps" };
            settings.usage_events = UsageEvents::parse(events).ok_or(odd)?;
        }
        if let Some(steps) = &self.usage_steps {
            settings.usage_steps = usage_steps(steps)?;
        }
        if let Some(kinds) = &self.callback_events {
            let known = |kind: &String| event::OPTIONAL.contains(&kind.as_str());
            if !kinds.iter().all(known) {
                let why = "must hold kinds of events beside Utilisation, such as FirstUse";
                return Err(Error::Field { field: "callbackEvents", why });
            }
            settings.callback_events = lines("callbackEvents", kinds)?;
            settings.callback_events.sort();
            settings.callback_events.dedup();
        }
        match self.low_balance {
            None => {}
            Some(0) => settings.low_balance = None,
            Some(amount) if (1..=limits::AMOUNT_MAX).contains(&amount) => {
                settings.low_balance = Some(amount);
            }
            Some(_) => {
                let why = "must be a positive whole number of minor units, or 0 or null";
                return Err(Error::Field { field: "lowBalance", why });
            }
        }
        Ok(())
    }

    /// What it pays, how, and how long it may change its mind.
    fn apply_sales(&self, settings: &mut Settings) -> Result<(), Error> {
        if let Some(list) = &self.price_list {
            let long = list.chars().count() > limits::TEXT_CHARS_MAX;
            if long || list.contains(char::is_control) {
                let why = "must be one line of at most 1000 characters";
                return Err(Error::Field { field: "priceList", why });
            }
            settings.price_list.clone_from(list);
        }
        if let Some(days) = self.refund_days {
            if !(0..=limits::REFUND_DAYS_MAX).contains(&days) {
                return Err(Error::Field { field: "refundDays", why: "must be 0 to 365" });
            }
            settings.refund_days = days;
        }
        if let Some(billing) = &self.billing {
            let why = "must be prepaid or consumption";
            let odd = Error::Field { field: "billing", why };
            settings.billing = Billing::parse(billing).ok_or(odd)?;
        }
        Ok(())
    }

    fn apply_topup(&self, topup: &mut TopupSettings) -> Result<(), Error> {
        let wanted = [
            ("topupMinimum", self.topup_minimum, &mut topup.minimum),
            ("topupDailyMaximum", self.topup_daily_maximum, &mut topup.daily_maximum),
            ("autoTopupThreshold", self.auto_topup_threshold, &mut topup.auto_threshold),
            ("autoTopupAmount", self.auto_topup_amount, &mut topup.auto_amount),
        ];
        for (field, wanted, place) in wanted {
            match wanted {
                None => {}
                Some(0) => *place = None,
                Some(amount) if (1..=limits::AMOUNT_MAX).contains(&amount) => *place = Some(amount),
                Some(_) => {
                    let why = "must be a positive whole number of minor units, or 0 or null";
                    return Err(Error::Field { field, why });
                }
            }
        }
        if topup.auto_threshold.is_some() != topup.auto_amount.is_some() {
            let why = "and autoTopupAmount are set together";
            return Err(Error::Field { field: "autoTopupThreshold", why });
        }
        Ok(())
    }
}

fn parsed_url(text: &str) -> Result<Option<CallbackUrl>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let why = "must be an http or https URL that names a host, on port 80, 443 or one from 1024, \
               and carries no user name";
    CallbackUrl::parse(text).map(Some).map_err(|_| Error::Field { field: "callbackUrl", why })
}

/// Percentages, each once, from the lowest; none are the usual ones.
fn usage_steps(steps: &[i64]) -> Result<Vec<i64>, Error> {
    let fits = |step: &i64| (1..=100).contains(step);
    if steps.len() > limits::USAGE_STEPS_MAX || !steps.iter().all(fits) {
        let why = "must be at most 20 whole percentages from 1 to 100";
        return Err(Error::Field { field: "usageSteps", why });
    }
    let mut steps = steps.to_vec();
    steps.sort_unstable();
    steps.dedup();
    Ok(if steps.is_empty() { STEPS.to_vec() } else { steps })
}

/// Short texts of one line each.
fn lines(field: &'static str, texts: &[String]) -> Result<Vec<String>, Error> {
    let odd = |text: &String| {
        let length = text.chars().count();
        !(1..=limits::TEXT_CHARS_MAX).contains(&length) || text.contains(char::is_control)
    };
    if texts.len() > limits::SETTINGS_LIST_MAX || texts.iter().any(odd) {
        let why = "must be at most 100 texts of 1 to 1000 characters";
        return Err(Error::Field { field, why });
    }
    Ok(texts.to_vec())
}

/// Networks are kept in one spelling.
fn network(text: &str) -> Result<String, Error> {
    let why = "must hold addresses or networks such as 192.0.2.7 or 192.0.2.0/24";
    let network = access::network(text).ok_or(Error::Field { field: "ipAllowList", why })?;
    Ok(network.to_string())
}

fn rate_limit(limit: i64) -> Result<Option<u32>, Error> {
    let why = "must be from 1 to 100000 requests per second, or 0 or null for no limit of its own";
    match u32::try_from(limit) {
        Ok(0) => Ok(None),
        Ok(limit) if limit <= limits::RATE_PER_SECOND_MAX => Ok(Some(limit)),
        _ => Err(Error::Field { field: "rateLimit", why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_written_in_one_way() {
        assert_eq!(network("192.0.2.7").expect("an address"), "192.0.2.7/32");
        assert_eq!(network("192.0.2.7/24").expect("a network"), "192.0.2.0/24");
        assert_eq!(network("2001:db8::1").expect("an address"), "2001:db8::1/128");
        for text in ["", "1.2.3", "192.0.2.0/33", "example", "192.0.2.7 "] {
            assert!(network(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_it_pays_has_bounds_and_the_field_is_named() {
        let told = |change: Change| {
            let mut settings = Settings::default();
            let told = change.apply_settings(&mut settings).map_err(|error| error.to_string());
            told.map(|()| (settings.price_list, settings.refund_days, settings.billing))
        };
        let sales = |list: &str, days, billing: &str| Change {
            price_list: Some(list.to_owned()),
            refund_days: Some(days),
            billing: Some(billing.to_owned()),
            ..Change::default()
        };
        let set = ("Partners".to_owned(), 0, Billing::Consumption);
        assert_eq!(told(sales("Partners", 0, "consumption")), Ok(set));
        let unset = (String::new(), 365, Billing::Prepaid);
        assert_eq!(told(sales("", 365, "prepaid")), Ok(unset));
        let untouched = (String::new(), limits::REFUND_DAYS, Billing::Prepaid);
        assert_eq!(told(Change::default()), Ok(untouched));
        for (bad, why) in [
            (sales("a\nb", 0, "prepaid"), "priceList must be one line of at most 1000 characters"),
            (sales("", -1, "prepaid"), "refundDays must be 0 to 365"),
            (sales("", 366, "prepaid"), "refundDays must be 0 to 365"),
            (sales("", 0, "Prepaid"), "billing must be prepaid or consumption"),
        ] {
            assert_eq!(told(bad), Err(why.to_owned()));
        }
        let named = sales("", 0, "").named();
        assert_eq!(named, ["priceList", "refundDays", "billing"]);
    }
}
