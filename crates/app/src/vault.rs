//! Seals secrets before they reach the database, and finds keys by a keyed digest.
//!
//! The vault file holds the key-encryption keys and the look-up key. It stands outside the
//! database, so that neither a copy of the database nor of the file alone reveals anything. Every
//! sealed value names the key it was sealed with, so that keys can be changed row by row.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::{KeyId, OrgId, Secret};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use store::{Rt, Sealed};

/// Name of the setting that proves which vault file a database belongs to.
pub(crate) const PROOF: &str = "vault-proof";
const FIRST_KEY: &str = "k1";

/// Why a vault file cannot be used. Says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no file.
    #[error(
        "the vault file {0} is missing; put it back, or start on an empty database to make one"
    )]
    Missing(String),
    /// The file cannot be read or written.
    #[error("the vault file {path}: {cause}")]
    File {
        /// Where.
        path: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// Others can read it.
    #[error("the vault file {0} can be read by others; run: chmod 600 {0}")]
    Exposed(String),
    /// It is not a vault file.
    #[error("the vault file {path} is not understood: {why}")]
    Malformed {
        /// Where.
        path: String,
        /// What is wrong.
        why: &'static str,
    },
}

/// The keys of the vault, in memory.
pub struct Vault {
    lookup: hmac::Key,
    current: String,
    keys: BTreeMap<String, LessSafeKey>,
}

impl Vault {
    /// Reads a vault file, which nobody but its owner may read.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let shown = path.display().to_string();
        let in_file = |cause: std::io::Error| match cause.kind() {
            std::io::ErrorKind::NotFound => Error::Missing(shown.clone()),
            _ => Error::File { path: shown.clone(), cause },
        };
        let mode = fs::metadata(path).map_err(in_file)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(Error::Exposed(shown));
        }
        let text = fs::read_to_string(path).map_err(in_file)?;
        parse(&text).map_err(|why| Error::Malformed { path: shown, why })
    }

    /// Writes a new vault file that only its owner can read.
    pub fn create(path: &Path, rt: &Rt) -> Result<Self, Error> {
        let in_file = |cause| Error::File { path: path.display().to_string(), cause };
        let text = format!(
            "# Tern's vault: the keys that seal secrets in the database. Whoever has this file and \
             the\n# database can read every API key; without this file none can be read. Keep it \
             out of backups\n# of the database, and keep a copy of it elsewhere.\n\
             lookup = \"{}\"\ncurrent = \"{FIRST_KEY}\"\n\n[keys]\n{FIRST_KEY} = \"{}\"\n",
            STANDARD.encode(rt.random::<32>()),
            STANDARD.encode(rt.random::<32>()),
        );
        // Written aside and then linked: a torn file would lock every key out. Two nodes that start
        // at once end up with one file, the first.
        let aside = path.with_extension(format!("new-{}", domain::hex(&rt.random::<4>())));
        write_aside(&aside, &text).map_err(in_file)?;
        let linked = fs::hard_link(&aside, path);
        let _left_over = fs::remove_file(&aside);
        match linked {
            Err(cause) if cause.kind() != std::io::ErrorKind::AlreadyExists => Err(in_file(cause)),
            _ => Self::load(path),
        }
    }

    /// The digest a key is found by. Keyed, so that guesses cannot be tried on a copied database.
    pub(crate) fn digest(&self, text: &str) -> [u8; 32] {
        self.digest_bytes(text.as_bytes())
    }

    pub(crate) fn digest_bytes(&self, bytes: &[u8]) -> [u8; 32] {
        let tag = hmac::sign(&self.lookup, bytes);
        tag.as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    /// A value that only this vault can make.
    pub(crate) fn proof(&self) -> [u8; 32] {
        self.digest("this vault belongs to this database")
    }

    /// A word that follows from the vault, for demo passwords that must stay the same.
    pub(crate) fn derived_word(&self, purpose: &str) -> String {
        let bytes = self.digest(purpose);
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&bytes[..15])
    }

    /// Seals bytes for their owner. The nonce follows from the randomness *and* the contents: a
    /// closure that runs again with the same randomness and other contents never repeats one.
    pub(crate) fn seal(&self, random: [u8; 16], owner: &str, contents: &[u8]) -> Sealed {
        let mut mixed = hmac::Context::with_key(&self.lookup);
        for part in [b"nonce", &random[..], owner.as_bytes(), contents] {
            mixed.update(part);
        }
        let nonce: [u8; NONCE_LEN] =
            mixed.sign().as_ref()[..NONCE_LEN].try_into().expect("a digest is longer");
        let mut bytes = contents.to_vec();
        self.keys[&self.current]
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(owner.as_bytes()),
                &mut bytes,
            )
            .expect("what is sealed is far below the limit");
        let bytes = [&nonce[..], &bytes].concat();
        Sealed { bytes, vault_key: self.current.clone() }
    }

    /// Opens what was sealed for the same owner; none if it was not, or was changed.
    pub(crate) fn open(&self, owner: &str, sealed: &Sealed) -> Option<Vec<u8>> {
        let (nonce, bytes) = sealed.bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut bytes = bytes.to_vec();
        let key = self.keys.get(&sealed.vault_key)?;
        let opened = key.open_in_place(nonce, Aad::from(owner.as_bytes()), &mut bytes).ok()?;
        Some(opened.to_vec())
    }

    /// Opens a text.
    pub(crate) fn open_text(&self, owner: &str, sealed: &Sealed) -> Option<Secret<String>> {
        self.open(owner, sealed).and_then(|b| String::from_utf8(b).ok()).map(Secret::new)
    }
}

fn write_aside(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Bound into the seal of a key, so that a row moved to another organisation does not open.
pub(crate) fn owner_of_key(org: OrgId, id: KeyId) -> String {
    format!("tern key v1 {org} {id}")
}

fn parse(text: &str) -> Result<Vault, &'static str> {
    let table: toml::Table = text.parse().map_err(|_| "it is not TOML")?;
    let word = |name: &str| table.get(name).and_then(toml::Value::as_str);
    let lookup = key_bytes(word("lookup").ok_or("`lookup` is missing")?)?;
    let current = word("current").ok_or("`current` is missing")?.to_owned();
    let listed = table.get("keys").and_then(toml::Value::as_table).ok_or("`[keys]` is missing")?;
    let mut keys = BTreeMap::new();
    for (name, value) in listed {
        let bytes = key_bytes(value.as_str().ok_or("a key is not text")?)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| "a key is too short")?;
        keys.insert(name.clone(), LessSafeKey::new(key));
    }
    if !keys.contains_key(&current) {
        return Err("`current` names no key of `[keys]`");
    }
    Ok(Vault { lookup: hmac::Key::new(hmac::HMAC_SHA256, &lookup), current, keys })
}

fn key_bytes(text: &str) -> Result<[u8; 32], &'static str> {
    let bytes = STANDARD.decode(text).map_err(|_| "a key is not base64")?;
    bytes.try_into().map_err(|_| "a key does not have 32 bytes")
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    fn new_vault() -> (tempfile::TempDir, std::path::PathBuf, Vault) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("vault.toml");
        let vault = Vault::create(&path, &Rt::real()).expect("created");
        (folder, path, vault)
    }

    fn ids(n: u8) -> (OrgId, KeyId) {
        (OrgId::new(Timestamp::from_ms(1), [n; 10]), KeyId::new(Timestamp::from_ms(1), [n; 10]))
    }

    #[test]
    fn only_the_same_owner_and_an_unchanged_seal_open() {
        let (_folder, path, vault) = new_vault();
        let (org, id) = ids(1);
        let owner = owner_of_key(org, id);
        let sealed = vault.seal([1; 16], &owner, b"tern_live_secret");
        assert!(!String::from_utf8_lossy(&sealed.bytes).contains("secret"));
        let again = Vault::load(&path).expect("loaded");
        assert_eq!(again.open(&owner, &sealed).as_deref(), Some(&b"tern_live_secret"[..]));
        assert_eq!(vault.open(&owner_of_key(ids(2).0, id), &sealed), None);
        assert_eq!(vault.open(&owner_of_key(org, ids(2).1), &sealed), None);
        let other = vault.seal([1; 16], &owner, b"tern_live_secreT");
        assert_ne!(sealed.bytes[..12], other.bytes[..12], "other contents, other nonce");
        let mut changed = sealed;
        changed.bytes[20] ^= 1;
        assert_eq!(vault.open(&owner, &changed), None);
        changed.bytes.truncate(5);
        assert_eq!(vault.open(&owner, &changed), None);
    }

    #[test]
    fn two_vaults_share_nothing() {
        let ((_a, _, one), (_b, _, two)) = (new_vault(), new_vault());
        assert_ne!(one.digest("x"), two.digest("x"));
        assert_ne!(one.proof(), two.proof());
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let (_folder, path, _) = new_vault();
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("changed");
        assert!(matches!(Vault::load(&path), Err(Error::Exposed(_))));
    }

    #[test]
    fn a_broken_file_is_explained() {
        assert!(matches!(Vault::load(Path::new("/nowhere/vault.toml")), Err(Error::Missing(_))));
        let good = STANDARD.encode([7; 32]);
        for (text, why) in [
            ("{".to_owned(), "it is not TOML"),
            ("current = \"k\"".to_owned(), "`lookup` is missing"),
            (format!("lookup = \"{good}\"\ncurrent = \"k\""), "`[keys]` is missing"),
            (
                format!("lookup = \"{good}\"\ncurrent = \"k\"\n[keys]\nj = \"{good}\""),
                "`current` names no key of `[keys]`",
            ),
            ("lookup = \"***\"\ncurrent = \"k\"".to_owned(), "a key is not base64"),
        ] {
            assert_eq!(parse(&text).err(), Some(why), "{text}");
        }
    }
}
