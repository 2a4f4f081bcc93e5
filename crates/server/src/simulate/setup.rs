//! Everything travellers need before they start: an organisation, a key for it, money, something to
//! buy, and eSIMs. What an earlier run made is found again.

use std::time::Duration;

use app::Rt;
use hyper::Method;
use serde_json::{Value, json};

use super::client::{Client, Error, Who};
use super::travellers::{Traveller, Ware};
use super::{Options, View};

/// What the organisation is called.
pub(crate) const NAME: &str = "Simulated Travellers";
const CURRENCY: &str = "USD";
/// What it has at least when a run begins, in minor units.
const MONEY: i64 = 1_000_000;
/// Different bundles that are used.
const WARES: usize = 6;
/// Largest of them, in megabytes: small ones are used up while somebody looks.
const WARE_MB_MAX: i64 = 3_000;
/// eSIMs of one order.
const ORDER_ESIMS: usize = 50;
/// The stable word for a stock that is empty.
const OUT_OF_STOCK: &str = "out-of-stock";
/// Keys of earlier runs that are left alone: they may be in use.
const KEYS_KEPT: usize = 5;
/// How long an order may take, and how often it is looked at.
const ORDER_TIME: Duration = Duration::from_mins(1);
const ORDER_LOOK: Duration = Duration::from_millis(200);

/// A house that is ready to play in.
pub(super) struct House {
    pub(super) operator: Client,
    pub(super) reseller: Client,
    pub(super) org: String,
    key: String,
}

impl House {
    /// Finds the organisation or makes it, and gets a key for it.
    pub(super) async fn open(options: &Options) -> Result<Self, String> {
        let operator = Client::new(&options.url, &Who::Operator(&options.operator_key))?;
        let told = |error| explained(&error, options);
        let found = find(&operator).await.map_err(told)?;
        let made = if let Some(org) = found {
            org
        } else {
            let body = json!({"name": NAME, "currency": CURRENCY, "sandbox": true,
                "notes": "Made by `tern simulate`; nobody in it is real."});
            operator.post("/operator/v1/organisations", &body).await.map_err(told)?
        };
        let org = text(&made, "id");
        let label = options.name.to_lowercase();
        tidy_keys(&operator, &org, &label).await.map_err(told)?;
        let path = format!("/operator/v1/organisations/{org}/keys");
        let key = operator.post(&path, &json!({ "label": label })).await.map_err(told)?;
        let reseller = Client::new(&options.url, &Who::Reseller(&text(&key, "apiKey")))?;
        let house = Self { operator, reseller, org, key: text(&key, "id") };
        if made["balance"].as_i64().unwrap_or_default() < MONEY {
            house.credit().await.map_err(told)?;
        }
        Ok(house)
    }

    /// Gives it money.
    pub(super) async fn credit(&self) -> Result<(), Error> {
        let body = json!({"amount": MONEY, "reason": "money for simulated travellers"});
        let path = format!("/operator/v1/organisations/{}/credit", self.org);
        self.operator.post(&path, &body).await.map(drop)
    }

    /// Tells it where callbacks go; nowhere with an empty text.
    pub(super) async fn call_back(&self, url: &str) -> Result<(), Error> {
        let body = json!({"callbackUrl": url, "callbackVersion": "V3"});
        let path = format!("/operator/v1/organisations/{}", self.org);
        self.operator.send(Method::PATCH, &path, &body).await.map(drop)
    }

    /// Buys a bundle onto an eSIM, with new money if there is too little.
    pub(super) async fn buy(&self, bundle: &str, iccid: &str) -> Result<(), Error> {
        let item = json!({"type": "bundle", "item": bundle, "quantity": 1, "iccids": [iccid]});
        let body = json!({"type": "transaction", "assign": true, "order": [item]});
        let bought = self.reseller.post("/v2.5/orders", &body).await;
        if !bought.as_ref().is_err_and(|error| error.is("balance-too-low")) {
            return bought.map(drop);
        }
        self.credit().await?;
        self.reseller.post("/v2.5/orders", &body).await.map(drop)
    }

    /// Takes the key away again.
    pub(super) async fn close(&self) {
        let path = format!("/operator/v1/organisations/{}/keys/{}", self.org, self.key);
        // One that stays is taken away by a later run.
        drop(self.operator.send(Method::DELETE, &path, &Value::Null).await);
    }

    /// Small bundles of limited data that wait for their first use, cheap ones first, each for
    /// other countries.
    pub(super) async fn wares(&self, options: &Options) -> Result<Vec<Ware>, String> {
        let path = "/v2.5/catalogue?unlimited=false&autostart=false&orderBy=price&perPage=500";
        let page = self.reseller.get(path).await.map_err(|error| explained(&error, options))?;
        let mut wares: Vec<Ware> = Vec::new();
        // A journey needs a bundle for several countries.
        let mut all: Vec<_> = list(&page, "bundles").collect();
        all.sort_by_key(|bundle| list(bundle, "roamingEnabled").count() < 2);
        for ware in all.into_iter().filter_map(ware) {
            let is_other = wares.iter().all(|one| one.countries != ware.countries);
            let fits = wares.first().is_none_or(|first| first.profile == ware.profile);
            // Half of them stay in one country.
            let many = wares.iter().filter(|one| one.countries.len() > 1).count();
            let is_wanted = ware.countries.len() == 1 || many < WARES / 2;
            if is_other && fits && is_wanted && wares.len() < WARES {
                wares.push(ware);
            }
        }
        if wares.is_empty() {
            return Err(format!(
                "nothing for sale in {CURRENCY} is small, limited and waits for its first use\n  \
                 next: tern catalogue import FILE"
            ));
        }
        Ok(wares)
    }

    /// As many travellers as are wanted: those of earlier runs first, then new ones.
    pub(super) async fn travellers(
        &self,
        options: &Options,
        wares: &[Ware],
        view: View,
    ) -> Result<Vec<Traveller>, String> {
        let told = |error| explained(&error, options);
        let path = "/v2.5/esims?perPage=10000";
        let page = self.reseller.get(path).await.map_err(told)?;
        let begin = format!("{} ", options.name);
        let number = |esim: &Value| text(esim, "customerRef").strip_prefix(&begin)?.parse().ok();
        let mut known: Vec<(usize, String)> = list(&page, "esims")
            .filter(|esim| esim["state"] == "active")
            .filter_map(|esim| Some((number(esim)?, text(esim, "iccid"))))
            .collect();
        known.sort_unstable();
        let last = known.last().map_or(0, |(number, _)| *number);
        let mut all = Vec::new();
        for (number, iccid) in known.into_iter().take(options.esims) {
            all.push(self.found(&iccid, number, wares).await.map_err(told)?);
        }
        let missing = options.esims - all.len();
        if missing > 0 {
            self.in_stock(missing, &wares[0].profile).await.map_err(told)?;
            view.say(&format!("Buying {missing} eSIMs with a bundle each …"));
        }
        for place in (0..missing).step_by(ORDER_ESIMS) {
            let count = ORDER_ESIMS.min(missing - place);
            let bought = self.order(wares, count).await.map_err(told)?;
            for (number, traveller) in (last + place + 1..).zip(&bought) {
                let body = json!({"iccid": traveller.iccid,
                    "customerRef": format!("{} {number}", options.name)});
                self.reseller.send(Method::PUT, "/v2.5/esims", &body).await.map_err(told)?;
            }
            all.extend(bought);
        }
        Ok(all)
    }

    /// Whether there are so many eSIMs to buy. Asked first, so that a few are left to others.
    async fn in_stock(&self, wanted: usize, profile: &str) -> Result<(), Error> {
        let stock = self.operator.get("/operator/v1/stock").await?;
        let own = |row: &&Value| row["mode"] == "sandbox" && row["profileName"] == profile;
        let free = list(&stock, "stock").find(own).and_then(|row| row["free"].as_u64());
        let free = free.unwrap_or_default();
        if free >= wanted as u64 {
            return Ok(());
        }
        let text = format!("{wanted} eSIMs are wanted, and {free} are in the sandbox stock");
        Err(Error::Refused { status: 503, code: OUT_OF_STOCK.to_owned(), text })
    }

    /// One of an earlier run, with what is left on its eSIM.
    async fn found(&self, iccid: &str, number: usize, wares: &[Ware]) -> Result<Traveller, Error> {
        let shown = self.reseller.get(&format!("/v2.5/esims/{iccid}/bundles")).await?;
        let mut own = number % wares.len();
        let mut left = 0;
        for bundle in list(&shown, "bundles") {
            let name = text(bundle, "name");
            if let Some(place) = wares.iter().position(|ware| ware.name == name) {
                own = place;
            }
            let each = list(bundle, "assignments");
            left += each.filter_map(|one| one["remainingQuantity"].as_i64()).sum::<i64>();
        }
        Ok(Traveller::new(iccid, own, left))
    }

    /// Buys bundles onto new eSIMs, and waits until they are there.
    async fn order(&self, wares: &[Ware], count: usize) -> Result<Vec<Traveller>, Error> {
        let share = |place: usize| count / wares.len() + usize::from(place < count % wares.len());
        let items: Vec<_> = wares
            .iter()
            .enumerate()
            .filter(|(place, _)| share(*place) > 0)
            .map(|(place, ware)| {
                json!({"type": "bundle", "item": ware.name, "quantity": share(place)})
            })
            .collect();
        let body = json!({"type": "transaction", "assign": true, "order": items});
        let mut order = self.reseller.post("/v2.5/orders", &body).await?;
        let path = format!("/v2.5/orders/{}", text(&order, "orderReference"));
        let (rt, mut waited) = (Rt::real(), Duration::ZERO);
        while order["status"] == "processing" && waited < ORDER_TIME {
            rt.sleep(ORDER_LOOK).await;
            waited += ORDER_LOOK;
            order = self.reseller.get(&path).await?;
        }
        if order["status"] != "completed" {
            let text = format!("an order is {}", text(&order, "status"));
            return Err(Error::Refused { status: 200, code: "order".to_owned(), text });
        }
        let mut all = Vec::new();
        for item in list(&order, "order") {
            let name = text(item, "item");
            let place = wares.iter().position(|ware| ware.name == name).unwrap_or_default();
            let iccids = list(item, "iccids").filter_map(Value::as_str);
            all.extend(iccids.map(|iccid| Traveller::new(iccid, place, wares[place].bytes)));
        }
        Ok(all)
    }
}

/// The organisation, if it is there.
async fn find(operator: &Client) -> Result<Option<Value>, Error> {
    let mut path = "/operator/v1/organisations?limit=1000".to_owned();
    loop {
        let page = operator.get(&path).await?;
        let own = |org: &&Value| org["name"] == NAME && org["sandbox"] == true;
        if let Some(found) = list(&page, "organisations").find(own) {
            return Ok(Some(found.clone()));
        }
        let Some(next) = page["next"].as_str() else { return Ok(None) };
        path = format!("/operator/v1/organisations?limit=1000&after={next}");
    }
}

/// Takes keys away that runs left behind which did not end in good order.
async fn tidy_keys(operator: &Client, org: &str, label: &str) -> Result<(), Error> {
    let path = format!("/operator/v1/organisations/{org}/keys");
    let page = operator.get(&path).await?;
    let mut old: Vec<_> = list(&page, "keys")
        .filter(|key| key["label"] == label && key["revokedAt"].is_null())
        .filter(|key| key["primary"] == false)
        .map(|key| (text(key, "createdAt"), text(key, "id")))
        .collect();
    old.sort_unstable();
    let end = old.len().saturating_sub(KEYS_KEPT);
    for (_, id) in &old[..end] {
        operator.send(Method::DELETE, &format!("{path}/{id}"), &Value::Null).await?;
    }
    Ok(())
}

/// A bundle of the catalogue, if travellers can use it.
fn ware(bundle: &Value) -> Option<Ware> {
    let megabytes = bundle["dataAmount"].as_i64().filter(|mb| (1..=WARE_MB_MAX).contains(mb))?;
    // A region is no country that somebody can be in.
    let members = list(bundle, "roamingEnabled").count();
    let field = if members > 0 { "roamingEnabled" } else { "countries" };
    let country = |country: &Value| (text(country, "iso"), text(country, "name"));
    let countries: Vec<_> = list(bundle, field).map(country).collect();
    let known = !countries.is_empty() && countries.iter().all(|(iso, _)| iso.len() == 2);
    let (name, profile) = (text(bundle, "name"), text(bundle, "profileName"));
    known.then_some(Ware { name, bytes: megabytes * 1_000_000, profile, countries })
}

/// What to do about an error.
fn explained(error: &Error, options: &Options) -> String {
    let next = match error {
        Error::Away(_) => {
            format!("is a service at {}? start one with `tern demo`, or say --url", options.url)
        }
        Error::Refused { status: 401, .. } => {
            "--operator-key KEY or TERN_OPERATOR_KEY; `tern demo` prints its own".to_owned()
        }
        _ if error.is(OUT_OF_STOCK) => {
            "tern stock import FILE --sandbox, or ask for fewer with --esims".to_owned()
        }
        Error::Refused { .. } => "the log of the service says more".to_owned(),
    };
    format!("{error}\n  next: {next}")
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().into_iter().flatten()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_know_where_they_can_be_used() {
        let country = |iso: &str| json!({"iso": iso, "name": iso, "region": "Europe"});
        let bundle = |mb: i64, countries: Value, roaming: Value| {
            json!({"name": "b", "dataAmount": mb, "countries": countries,
                "roamingEnabled": roaming})
        };
        let isos = |bundle: &Value| {
            let ware = ware(bundle)?;
            Some(ware.countries.into_iter().map(|(iso, _)| iso).collect::<Vec<_>>().join(" "))
        };
        let (one, region) = (json!([country("PT")]), json!([country("Europe+")]));
        let members = json!([country("PT"), country("ES")]);
        assert_eq!(isos(&bundle(1_000, one.clone(), json!([]))).as_deref(), Some("PT"));
        assert_eq!(isos(&bundle(1_000, region.clone(), members)).as_deref(), Some("PT ES"));
        assert_eq!(isos(&bundle(1_000, region, json!([]))), None, "nobody can be there");
        assert_eq!(isos(&bundle(10_000, one, json!([]))), None, "nobody sees its end");
    }
}
