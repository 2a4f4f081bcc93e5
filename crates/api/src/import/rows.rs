//! Rows of a catalogue, whatever they are written in: their fields, defaults for those left out,
//! and everything that is wrong with them.

use domain::catalogue::{
    Allowance, Bundle, Country, Data, DurationUnit, Group, Network, PROFILE_NAME, Price, Rate,
    Start,
};
use domain::{BundleName, Currency, limits};

/// Where the fields of a row come from. A field left out is `None`; one of the wrong type is a
/// sentence that names it.
pub(super) trait Source {
    fn text(&mut self, field: &str) -> Result<Option<String>, String>;
    fn whole(&mut self, field: &str) -> Result<Option<i64>, String>;
    fn flag(&mut self, field: &str) -> Result<Option<bool>, String>;
    fn list(&mut self, field: &str) -> Result<Option<Vec<String>>, String>;
    /// Prices on the standard list by code of the currency; `None` is no whole number.
    fn prices(&mut self) -> Result<Vec<(String, Option<i64>)>, String>;
    fn allowances(&mut self) -> Result<Vec<Allowance>, String>;
}

/// A row that is being read.
pub(super) struct Row<S> {
    source: S,
    whys: Vec<String>,
}

impl<S: Source> Row<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, whys: Vec::new() }
    }

    /// What is wrong with it.
    pub(super) fn whys(self) -> Vec<String> {
        self.whys
    }

    pub(super) fn country(&mut self) -> Option<Country> {
        let country = Country {
            iso: self.needed("iso"),
            name: self.needed("name"),
            region: self.needed("region"),
        };
        self.unless_wrong(country)
    }

    pub(super) fn network(&mut self) -> Option<Network> {
        let network = Network {
            iso: self.needed("iso"),
            name: self.needed("name"),
            brand: self.text("brandName"),
            mcc: self.needed("mcc"),
            mnc: self.needed("mnc"),
            tadig: self.text("tagid"),
            speeds: self.list("speed"),
        };
        self.unless_wrong(network)
    }

    pub(super) fn group(&mut self) -> Option<Group> {
        let group = Group {
            name: self.needed("name"),
            description: self.text("desc"),
            price_list_url: self.url("priceListUrl"),
            icon: self.url("icon"),
        };
        self.unless_wrong(group)
    }

    /// A bundle with its prices on the standard list.
    pub(super) fn bundle(&mut self) -> Option<(Bundle, Vec<Price>)> {
        let name = self.bundle_name("name");
        let (description, countries) = (self.needed("description"), self.list("countries"));
        let (roaming, data) = (self.list("roamingEnabled"), self.data());
        let (duration, duration_unit) = (self.needed_whole("duration"), self.duration_unit());
        let (speeds, groups) = (self.list("speed"), self.list("groups"));
        let (autostart, is_withdrawn) = (self.flag("autostart"), self.flag("withdrawn"));
        let (profile_name, image_url) = (self.profile_name(), self.url("imageUrl"));
        let allowances = self.source.allowances();
        let allowances = self.told(allowances);
        let prices = self.prices();
        let (name, data, duration) = (name?, data?, duration?);
        let price = |(currency, minor)| Price {
            list: String::new(),
            bundle: name.clone(),
            currency,
            minor,
        };
        let prices = prices.into_iter().map(price).collect();
        let bundle = Bundle {
            name,
            description,
            countries,
            roaming,
            data,
            duration,
            duration_unit,
            speeds,
            start: if autostart == Some(true) { Start::Auto } else { Start::FirstUse },
            groups,
            profile_name,
            image_url,
            allowances,
            is_withdrawn: is_withdrawn == Some(true),
        };
        self.unless_wrong((bundle, prices))
    }

    pub(super) fn price(&mut self) -> Option<Price> {
        let (list, bundle) = (self.price_list(), self.bundle_name("bundle"));
        let currency = self.currency();
        let minor = match self.source.whole("price") {
            Ok(Some(minor)) => Some(minor),
            Ok(None) => self.wrong("price is missing"),
            Err(_) => self.wrong(not_minor("price")),
        };
        let price = Price { list, bundle: bundle?, currency: currency?, minor: minor? };
        self.unless_wrong(price)
    }

    pub(super) fn rate(&mut self) -> Option<Rate> {
        let (list, iso) = (self.price_list(), self.needed("country"));
        let (profile_name, price) = (self.profile_name(), self.needed("price"));
        let currency = self.currency()?;
        self.unless_wrong(Rate { list, iso, profile_name, currency, price })
    }

    fn prices(&mut self) -> Vec<(Currency, i64)> {
        let prices = self.source.prices();
        let mut read = Vec::new();
        for (code, minor) in self.told(prices) {
            match (Currency::parse(&code), minor) {
                (Err(_), _) => self.whys.push(format!("{code} is no code of a currency")),
                (Ok(_), None) => self.whys.push(not_minor(&format!("price:{code}"))),
                (Ok(currency), Some(minor)) => read.push((currency, minor)),
            }
        }
        read
    }

    fn data(&mut self) -> Option<Data> {
        let (amount, unlimited) = (self.source.whole("dataAmount"), self.flag("unlimited"));
        let daily_mb = self.whole("dailyAllowance").unwrap_or(Data::DAILY_MB);
        let throttle_kbps = self.whole("throttle").unwrap_or(Data::THROTTLE_KBPS);
        match (amount, unlimited) {
            (Err(why), _) => self.wrong(why),
            (Ok(Some(-1)), Some(false)) => {
                self.wrong("dataAmount -1 is unlimited, but unlimited is false")
            }
            (Ok(Some(-1) | None), Some(true)) | (Ok(Some(-1)), None) => {
                Some(Data::Unlimited { daily_mb, throttle_kbps })
            }
            (Ok(Some(_)), Some(true)) => {
                self.wrong("dataAmount must be -1 or left out where unlimited is true")
            }
            (Ok(Some(megabytes)), _) => Some(Data::Megabytes(megabytes)),
            (Ok(None), _) => self.wrong("dataAmount is missing; -1 means unlimited"),
        }
    }

    fn duration_unit(&mut self) -> DurationUnit {
        let unit = match self.text("durationUnit").as_str() {
            "" => Some(DurationUnit::Day),
            text => DurationUnit::parse(text),
        };
        let unit = unit.or_else(|| self.wrong("durationUnit must be day or month"));
        unit.unwrap_or(DurationUnit::Day)
    }

    fn bundle_name(&mut self, field: &str) -> Option<BundleName> {
        match self.needed(field).as_str() {
            "" => None,
            text => BundleName::parse(text)
                .map_err(|error| self.whys.push(format!("{field}: {error}")))
                .ok(),
        }
    }

    fn currency(&mut self) -> Option<Currency> {
        match self.needed("currency").as_str() {
            "" => None,
            text => Currency::parse(text)
                .ok()
                .or_else(|| self.wrong("currency must be three capital letters such as USD")),
        }
    }

    fn profile_name(&mut self) -> String {
        match self.text("profileName") {
            name if name.is_empty() => PROFILE_NAME.to_owned(),
            name => name,
        }
    }

    /// The name of a list is set in organisations too, where it is one line.
    fn price_list(&mut self) -> String {
        let list = self.text("list");
        if list.contains(char::is_control) {
            self.whys.push("list must be one line".to_owned());
        }
        list
    }

    fn needed(&mut self, field: &str) -> String {
        let before = self.whys.len();
        let text = self.text(field);
        if text.is_empty() && self.whys.len() == before {
            self.whys.push(format!("{field} is missing"));
        }
        text
    }

    /// A text; empty when it is left out.
    fn text(&mut self, field: &str) -> String {
        let text = self.source.text(field);
        let text = self.told(text).unwrap_or_default();
        if text.chars().count() > limits::TEXT_CHARS_MAX {
            let most = limits::TEXT_CHARS_MAX;
            self.whys.push(format!("{field} must be at most {most} characters"));
        }
        text
    }

    fn url(&mut self, field: &str) -> String {
        let text = self.source.text(field);
        let text = self.told(text).unwrap_or_default();
        if text.len() > limits::URL_BYTES_MAX {
            let most = limits::URL_BYTES_MAX;
            self.whys.push(format!("{field} must be at most {most} bytes"));
        }
        text
    }

    fn needed_whole(&mut self, field: &str) -> Option<i64> {
        match self.source.whole(field) {
            Ok(Some(number)) => Some(number),
            Ok(None) => self.wrong(format!("{field} is missing")),
            Err(why) => self.wrong(why),
        }
    }

    fn whole(&mut self, field: &str) -> Option<i64> {
        let number = self.source.whole(field);
        self.told(number)
    }

    fn flag(&mut self, field: &str) -> Option<bool> {
        let flag = self.source.flag(field);
        self.told(flag)
    }

    /// A list; its texts are kept as lines of one text.
    fn list(&mut self, field: &str) -> Vec<String> {
        let list = self.source.list(field);
        let list = self.told(list).unwrap_or_default();
        if list.iter().any(|text| text.contains(char::is_control)) {
            self.whys.push(format!("{field} must hold texts of one line each"));
        }
        list
    }

    fn told<T: Default>(&mut self, value: Result<T, String>) -> T {
        value.unwrap_or_else(|why| {
            self.whys.push(why);
            T::default()
        })
    }

    fn wrong<T>(&mut self, why: impl Into<String>) -> Option<T> {
        self.whys.push(why.into());
        None
    }

    fn unless_wrong<T>(&self, row: T) -> Option<T> {
        self.whys.is_empty().then_some(row)
    }
}

fn not_minor(field: &str) -> String {
    format!("{field} must be a whole number of minor units, such as 240 for 2.40")
}
