//! TLS by certificate files: verified by a client, and read again when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::harness::http::read_answer;
use crate::harness::{Answer, Home, Node, Ran, Request, World, binary, wait};

/// An authority of our own, and what it signs.
struct Authority {
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
    root: CertificateDer<'static>,
}

impl Authority {
    fn new() -> Self {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).expect("signed").der().clone();
        Self { issuer: rcgen::Issuer::new(params, key), root }
    }

    /// Writes a certificate for localhost and its key; the certificate.
    fn sign(&self, files: &Files) -> CertificateDer<'static> {
        let key = rcgen::KeyPair::generate().expect("a key");
        let params = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
        let made = params.signed_by(&key, &self.issuer).expect("signed");
        Files::write(&files.certificate, &made.pem());
        Files::write(&files.key, &key.serialize_pem());
        made.der().clone()
    }
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn in_folder(folder: &Path) -> Self {
        Self { certificate: folder.join("certificate.pem"), key: folder.join("key.pem") }
    }

    /// As a tool for certificates does it: whole, by renaming.
    fn write(path: &Path, text: &str) {
        let aside = path.with_extension("new");
        fs::write(&aside, text).expect("written");
        fs::rename(&aside, path).expect("renamed");
    }

    fn settings(&self) -> [(&str, &str); 2] {
        [
            ("TERN_TLS_CERTIFICATE", self.certificate.to_str().expect("a plain path")),
            ("TERN_TLS_KEY", self.key.to_str().expect("a plain path")),
        ]
    }
}

type Secured = TlsStream<TcpStream>;

/// A connection whose certificate is verified, for a name, against one authority.
async fn connect(
    node: &Node,
    root: &CertificateDer<'static>,
    name: &str,
    protocols: &[&str],
) -> std::io::Result<Secured> {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).expect("an authority");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the versions are known")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(node.address).await?;
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

fn shown(stream: &Secured) -> CertificateDer<'static> {
    let chain = stream.get_ref().1.peer_certificates().expect("a certificate");
    chain[0].clone().into_owned()
}

async fn ask(node: &Node, stream: Secured, request: &Request) -> (Answer, Secured) {
    let mut stream = BufReader::new(stream);
    stream.write_all(&request.bytes()).await.expect("sent");
    let answer = read_answer(&mut stream, request.is_head()).await.expect("an answer");
    node.judge(&request.method, &request.target, &answer);
    (answer, stream.into_inner())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_certificate_is_served_without_a_restart() {
    let home = Home::sqlite();
    let (authority, files) = (Authority::new(), Files::in_folder(home.folder()));
    let first = authority.sign(&files);
    let made = home.tern_json(&["org", "add", "Secure", "--currency", "USD"]);
    let node = Node::serve(&home, &files.settings()).await;
    let key = made["apiKey"].as_str().expect("a key");
    let get = Request::get("/v2.5/organisation").key(key);

    let old = connect(&node, &authority.root, "localhost", &["http/1.1"]).await.expect("verified");
    assert_eq!(shown(&old), first);
    let (answer, old) = ask(&node, old, &get).await;
    assert_eq!(answer.json_of(200)["organisations"][0]["name"], json!("Secure"));
    // A client of another name or another faith is not fooled.
    assert!(connect(&node, &authority.root, "elsewhere", &[]).await.is_err());
    assert!(connect(&node, &Authority::new().root, "localhost", &[]).await.is_err());

    // Files that do not fit each other change nothing.
    let stranger = rcgen::KeyPair::generate().expect("a key").serialize_pem();
    Files::write(&files.key, &stranger);
    wait::until("the misfit is noticed", Duration::from_secs(5), async || {
        node.log().contains("not usable").then_some(())
    })
    .await;
    let stream = connect(&node, &authority.root, "localhost", &[]).await.expect("verified");
    assert_eq!(shown(&stream), first);
    // The next pair that fits is taken up.
    let second = authority.sign(&files);
    assert_ne!(first, second);
    wait::until("the new certificate is served", Duration::from_secs(5), async || {
        let stream = connect(&node, &authority.root, "localhost", &[]).await.expect("verified");
        let certificate = shown(&stream);
        assert!([&first, &second].contains(&&certificate));
        (certificate == second).then_some(())
    })
    .await;
    // Who was connected stays so.
    let (answer, _) = ask(&node, old, &get).await;
    answer.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_tls_is_not_answered_and_does_no_harm() {
    let home = Home::sqlite();
    let (authority, files) = (Authority::new(), Files::in_folder(home.folder()));
    authority.sign(&files);
    let node = Node::serve(&home, &files.settings()).await;
    let plain = node.try_send(&Request::get("/healthz")).await;
    assert!(plain.is_err(), "{plain:?}");
    let stream = connect(&node, &authority.root, "localhost", &["h2", "http/1.1"]).await;
    let stream = stream.expect("verified");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]), "HTTP/2 is offered");
    let stream = connect(&node, &authority.root, "localhost", &[]).await.expect("verified");
    let version = stream.get_ref().1.protocol_version().expect("negotiated");
    assert_eq!(version, rustls::ProtocolVersion::TLSv1_3);
    let (answer, _) = ask(&node, stream, &Request::get("/healthz")).await;
    answer.expect(200);
}

#[test]
fn one_file_of_the_pair_alone_is_explained() {
    let home = Home::sqlite();
    let (authority, files) = (Authority::new(), Files::in_folder(home.folder()));
    authority.sign(&files);
    let [certificate, key] = files.settings();
    for (setting, missing) in [(certificate, "tls_key"), (key, "tls_certificate")] {
        let mut serve = home.tern(&["serve", "--listen", "127.0.0.1:0"]);
        Ran::new(serve.envs([setting])).failed(1, missing);
    }
}

/// The monitoring listener is for the inside and stays plain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn monitoring_stays_plain_beside_tls() {
    let home = Home::sqlite();
    let (authority, files) = (Authority::new(), Files::in_folder(home.folder()));
    authority.sign(&files);
    let address = binary::free_address();
    let settings = [&files.settings()[..], &[("TERN_METRICS_LISTEN", &*address)]].concat();
    let world = World::with(home, &settings).await;
    let request = Request::get("/metrics").bytes();
    let address = address.parse().expect("an address");
    let answer = crate::harness::http::exchange(address, &request, false).await;
    answer.expect("an answer").expect(200);
    drop(world);
}
