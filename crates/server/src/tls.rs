//! TLS by certificate files, read again when they change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use app::Rt;
use rustls::ServerConfig;
use rustls::crypto::ring::{default_provider, sign};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// How often the files are looked at. Renewals come once in weeks.
const LOOK: Duration = Duration::from_secs(2);

/// A certificate and its key, in files.
#[derive(Debug)]
pub(crate) struct Files {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Files {
    pub(crate) fn load(certificate: &Path, key: &Path) -> Result<Arc<Self>, String> {
        let current = RwLock::new(Arc::new(read(certificate, key)?));
        let files = Self { certificate: certificate.into(), key: key.into(), current };
        Ok(Arc::new(files))
    }

    /// What new connections are accepted with.
    pub(crate) fn acceptor(self: &Arc<Self>) -> Result<TlsAcceptor, String> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Reads the files again whenever they change; a pair that does not fit keeps the old one.
    pub(crate) async fn watch(self: Arc<Self>, rt: Rt) {
        let mut seen = self.stamps();
        loop {
            rt.sleep(LOOK).await;
            let now = self.stamps();
            if now == seen {
                continue;
            }
            match read(&self.certificate, &self.key) {
                Ok(fresh) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fresh);
                    tracing::info!("TLS certificate read again");
                    seen = now;
                }
                // Perhaps only one of the two files is written yet; look again next time.
                Err(error) => tracing::warn!(error, "the new TLS certificate is not usable"),
            }
        }
    }

    fn stamps(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|path| path.metadata().and_then(|m| m.modified()).ok())
    }
}

impl ResolvesServerCert for Files {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, String> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        format!("the TLS file {} cannot be used: {error}", path.display())
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unreadable(certificate, &error))?;
    if chain.is_empty() {
        return Err(unreadable(certificate, &"it holds no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    let signing = sign::any_supported_type(&private).map_err(|error| unreadable(key, &error))?;
    let pair = CertifiedKey::new(chain, signing);
    pair.keys_match().map_err(|error| unreadable(key, &error))?;
    Ok(pair)
}
