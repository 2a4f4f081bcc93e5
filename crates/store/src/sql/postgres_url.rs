//! Where a PostgreSQL server is and how to speak to it: the URL, and TLS.
//!
//! The URL is libpq's, with several hosts and `target_session_attrs`. `sslmode` means:
//! `disable` no TLS; `prefer` (the default) TLS where offered, unverified, as it could be stripped
//! anyway; `require`, `verify-ca` and `verify-full` TLS with the certificate and the name verified,
//! against `sslrootcert` if given and the system's roots otherwise.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use domain::limits;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A server to connect to, parsed once.
#[derive(Clone)]
pub(super) struct Target {
    /// One for each host of the URL, in its order.
    pub(super) hosts: Vec<Config>,
    pub(super) tls: MakeRustlsConnect,
}

impl Target {
    /// Reads a URL. The error says what is wrong with it and never repeats a password.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (plain, tls_options) = split_tls_options(url);
        let urls = one_per_host(&plain);
        let mut hosts = Vec::new();
        for one in &urls {
            let mut config = Config::from_str(one)
                .map_err(|e| format!("the database URL is not understood: {}", cause(&e)))?;
            if config.get_application_name().is_none() {
                config.application_name("tern");
            }
            // What stands between us and the server may forget a silent connection in minutes.
            if !url.contains("keepalives_idle") {
                config.keepalives_idle(KEEPALIVE_IDLE);
            }
            if !url.contains("tcp_user_timeout") {
                config.tcp_user_timeout(limits::CONNECT * 2);
            }
            // With several hosts only the one that takes writes is of use.
            if urls.len() > 1 && !url.contains("target_session_attrs") {
                config.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            config.ssl_mode(tls_options.mode.driver());
            hosts.push(config);
        }
        let verified = tls_options.mode.verified();
        let tls = MakeRustlsConnect::new(client_config(verified, tls_options.root.as_deref())?);
        Ok(Self { hosts, tls })
    }
}

const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);

/// `postgres://u@a:1,b:2/d?x` as `postgres://u@a:1/d?x` and `postgres://u@b:2/d?x`.
fn one_per_host(url: &str) -> Vec<String> {
    let Some((scheme, rest)) = url.split_once("://") else { return vec![url.to_owned()] };
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (format!("{user}@"), hosts),
        None => (String::new(), authority),
    };
    hosts.split(',').map(|host| format!("{scheme}://{user}{host}{path}")).collect()
}

#[derive(Clone, Copy, Default)]
enum Mode {
    Disable,
    #[default]
    Prefer,
    Verified,
}

impl Mode {
    fn verified(self) -> bool {
        matches!(self, Self::Verified)
    }

    fn driver(self) -> SslMode {
        match self {
            Self::Disable => SslMode::Disable,
            Self::Prefer => SslMode::Prefer,
            Self::Verified => SslMode::Require,
        }
    }
}

#[derive(Default)]
struct TlsOptions {
    mode: Mode,
    root: Option<String>,
}

/// Takes the options the driver does not know out of the URL.
fn split_tls_options(url: &str) -> (String, TlsOptions) {
    let mut options = TlsOptions::default();
    let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), options) };
    let mut kept = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", "disable")) => options.mode = Mode::Disable,
            Some(("sslmode", "allow" | "prefer")) => options.mode = Mode::Prefer,
            Some(("sslmode", "require" | "verify-ca" | "verify-full")) => {
                options.mode = Mode::Verified;
            }
            Some(("sslrootcert", path)) => options.root = Some(percent_decoded(path)),
            _ => kept.push(pair),
        }
    }
    let rest = kept.join("&");
    let plain = if rest.is_empty() { base.to_owned() } else { format!("{base}?{rest}") };
    (plain, options)
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn client_config(verified: bool, root: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    if !verified {
        let verifier = Arc::new(Unverified(provider));
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
        return Ok(builder.with_no_client_auth());
    }
    let mut roots = RootCertStore::empty();
    match root {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|e| format!("sslrootcert {path} cannot be read: {e}"))?;
            roots.add_parsable_certificates(certificates);
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err("no root certificate to verify the server by; \
                    name one with sslrootcert=/path/ca.pem in the database URL"
            .to_owned());
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn cause(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// For `sslmode=prefer`: keeps listeners out, not impostors; an impostor could refuse TLS anyway.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_hosts_want_the_one_that_writes() {
        let target = Target::parse("postgres://u:p@a,b:5433/tern").expect("a URL");
        assert_eq!(target.hosts.len(), 2);
        for host in &target.hosts {
            assert_eq!(host.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
            assert_eq!(host.get_ssl_mode(), SslMode::Prefer);
            assert_eq!((host.get_user(), host.get_dbname()), (Some("u"), Some("tern")));
        }
        assert_eq!(target.hosts[1].get_ports(), [5433]);
        let any = Target::parse("postgres://a,b/tern?target_session_attrs=any").expect("a URL");
        assert_eq!(any.hosts[0].get_target_session_attrs(), TargetSessionAttrs::Any);
    }

    #[test]
    fn a_bad_url_is_explained_without_its_password() {
        for url in ["postgres://u:hunter2@h/d?nonsense=1", "postgres://u:hunter2@h:port/d"] {
            let error = Target::parse(url).err().expect("refused");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_missing_root_certificate_is_named() {
        let url = "postgres://h/d?sslmode=verify-full&sslrootcert=/nowhere/ca.pem";
        assert!(Target::parse(url).err().expect("refused").contains("/nowhere/ca.pem"));
    }
}
