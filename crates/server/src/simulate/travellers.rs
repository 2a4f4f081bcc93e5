//! Travellers and their little lives: a profile is installed, registers in a country, uses data,
//! goes on to the next country, and needs another bundle some day. The same seed tells the same
//! story.

use app::Rt;
use domain::Timestamp;
use serde_json::{Value, json};

use super::view::data;

/// What one use of data is, in megabytes.
const USE_MB: std::ops::RangeInclusive<u64> = 1..=40;
const MB: i64 = 1_000_000;
/// One in so many acts is a journey to another country.
const JOURNEY: u64 = 25;
/// Who tells all this.
const SOURCE: &str = "https://travellers.example/simulator";

/// A bundle that travellers use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ware {
    pub(super) name: String,
    pub(super) bytes: i64,
    /// Profile of the eSIMs it fits.
    pub(super) profile: String,
    /// Where it can be used: ISO codes and names.
    pub(super) countries: Vec<(String, String)>,
}

/// Choices that repeat themselves from a seed.
pub(super) struct Dice(Rt);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Rt::seeded(seed, Timestamp::from_ms(0)))
    }

    /// A number below that one.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        u64::from_le_bytes(self.0.random()) % end.max(1)
    }

    fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }
}

/// How far somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    AtHome,
    Installed,
    /// In that country of the bundle.
    Away(usize),
}

/// Somebody with an eSIM.
pub(super) struct Traveller {
    pub(super) iccid: String,
    /// Which of the bundles it uses.
    pub(super) ware: usize,
    left: i64,
    stage: Stage,
}

impl Traveller {
    /// One with a bundle, or what is left of it.
    pub(super) fn new(iccid: &str, ware: usize, left: i64) -> Self {
        Self { iccid: iccid.to_owned(), ware, left, stage: Stage::AtHome }
    }

    /// The end of the number tells eSIMs apart.
    pub(super) fn short(&self) -> String {
        let end = self.iccid.len().saturating_sub(5);
        format!("{}…{}", &self.iccid[..4.min(end)], &self.iccid[end..])
    }
}

/// Something a traveller did, as it is reported.
pub(super) struct Act {
    pub(super) iccid: String,
    pub(super) number: u64,
    pub(super) event: Value,
    /// How much data it was.
    pub(super) bytes: i64,
    /// The same in words.
    pub(super) words: String,
}

/// All travellers.
pub(super) struct Troupe {
    pub(super) all: Vec<Traveller>,
    pub(super) wares: Vec<Ware>,
    dice: Dice,
    /// Tells the records of this run from those of others.
    run: String,
    acts: u64,
}

impl Troupe {
    pub(super) fn new(all: Vec<Traveller>, wares: Vec<Ware>, seed: u64, run: String) -> Self {
        Self { all, wares, dice: Dice::new(seed), run, acts: 0 }
    }

    /// The next act of somebody, unless all wait for another bundle.
    pub(super) fn act(&mut self, now: Timestamp) -> Option<Act> {
        let first = self.dice.place(self.all.len());
        let order = (first..self.all.len()).chain(0..first);
        let place = order.into_iter().find(|place| self.all[*place].left > 0)?;
        let countries = self.wares[self.all[place].ware].countries.len();
        let journey = countries > 1 && self.dice.below(JOURNEY) == 0;
        let somewhere = self.dice.place(countries);
        let megabytes = USE_MB.start() + self.dice.below(USE_MB.end() - USE_MB.start() + 1);
        self.acts += 1;
        let one = &mut self.all[place];
        let countries = &self.wares[one.ware].countries;
        let (short, iccid) = (one.short(), one.iccid.clone());
        let (kind, told, bytes, words) = match one.stage {
            Stage::AtHome => {
                one.stage = Stage::Installed;
                let told = json!({"iccid": iccid, "status": "Installed"});
                ("tern.profile.progress", told, 0, format!("{short} is installed"))
            }
            Stage::Away(country) if !journey || country == somewhere => {
                let (iso, name) = &countries[country];
                let bytes = one.left.min(i64::try_from(megabytes).unwrap_or(1) * MB);
                one.left -= bytes;
                let told = json!({"iccid": iccid, "bytes": bytes, "country": iso});
                let (used, left) = (data(bytes), data(one.left));
                let words = format!("{short} in {name} used {used}, {left} left");
                ("tern.usage.data", told, bytes, words)
            }
            Stage::Installed | Stage::Away(_) => {
                one.stage = Stage::Away(somewhere);
                let (iso, name) = &countries[somewhere];
                let told = json!({"iccid": iccid, "country": iso});
                ("tern.network.attach", told, 0, format!("{short} arrived in {name}"))
            }
        };
        let event = json!({"specversion": "1.0", "id": format!("{}-{}", self.run, self.acts),
            "source": SOURCE, "type": kind, "time": now.to_string(), "data": told});
        Some(Act { iccid, number: self.acts, event, bytes, words })
    }

    /// Those who have nothing left.
    pub(super) fn empty_handed(&self) -> impl Iterator<Item = usize> {
        (0..self.all.len()).filter(|place| self.all[*place].left <= 0)
    }

    /// Somebody has another bundle.
    pub(super) fn bought(&mut self, place: usize) {
        let one = &mut self.all[place];
        one.left = one.left.max(0) + self.wares[one.ware].bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn troupe(seed: u64) -> Troupe {
        let country = |iso: &str| (iso.to_owned(), format!("Land of {iso}"));
        let ware = |name: &str, bytes, countries| {
            let (name, profile) = (name.to_owned(), "Profile 1".to_owned());
            Ware { name, bytes, profile, countries }
        };
        let wares = vec![
            ware("one", 100 * MB, vec![country("ES")]),
            ware("many", 1_000 * MB, ["PT", "FR", "DE"].map(country).into()),
        ];
        let all = vec![
            Traveller::new("8943001000000026411", 0, 100 * MB),
            Traveller::new("8943001000000026429", 1, 1_000 * MB),
        ];
        Troupe::new(all, wares, seed, "run".into())
    }

    fn story(seed: u64) -> (Vec<Act>, Troupe) {
        let mut troupe = troupe(seed);
        let mut acts = Vec::new();
        while let Some(act) = troupe.act(Timestamp::from_ms(0)) {
            acts.push(act);
        }
        (acts, troupe)
    }

    #[test]
    fn a_seed_tells_one_story() {
        let words = |seed| story(seed).0.into_iter().map(|act| act.words).collect::<Vec<_>>();
        assert_eq!(words(7), words(7));
        assert_ne!(words(7), words(8));
    }

    #[test]
    fn a_life_goes_from_installation_to_the_last_byte() {
        let (acts, mut troupe) = story(7);
        for (iccid, all, isos) in [
            ("8943001000000026411", 100 * MB, vec!["ES"]),
            ("8943001000000026429", 1_000 * MB, vec!["PT", "FR", "DE"]),
        ] {
            let own: Vec<_> = acts.iter().filter(|act| act.iccid == iccid).collect();
            let kinds: Vec<_> =
                own.iter().map(|act| act.event["type"].as_str().expect("a kind")).collect();
            let start = ["tern.profile.progress", "tern.network.attach", "tern.usage.data"];
            assert_eq!(kinds[..3], start);
            assert_eq!(own.iter().map(|act| act.bytes).sum::<i64>(), all);
            assert!(own.iter().all(|act| act.bytes <= 40 * MB));
            for act in &own[1..] {
                let iso = act.event["data"]["country"].as_str().expect("a country");
                assert!(isos.contains(&iso), "{iso}");
            }
        }
        assert_eq!(acts[0].words.split(' ').next().map(str::len), Some("8943…26411".len()));
        assert_eq!(troupe.empty_handed().collect::<Vec<_>>(), [0, 1]);
        troupe.bought(1);
        assert_eq!(troupe.empty_handed().collect::<Vec<_>>(), [0]);
        let again = troupe.act(Timestamp::from_ms(0)).expect("somebody acts");
        assert_eq!(again.iccid, "8943001000000026429");
    }
}
