//! Receivers behind TLS: only those whose certificate is good for their name.

use std::sync::Arc;

use adapters::callbacks::{HttpReceivers, Settings};
use domain::ports::callbacks::Reply;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::receiver::{Receiver, pause, read_request};
use crate::{LATE, LIMIT, answered, failed, receivers, send};

/// A certificate for some names, and what a receiver accepts with it.
struct Certified {
    certificate: CertificateDer<'static>,
    acceptor: TlsAcceptor,
}

impl Certified {
    fn for_names(names: &[&str]) -> Self {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .expect("a pair");
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self { certificate, acceptor: TlsAcceptor::from(Arc::new(config)) }
    }
}

fn trusting(certified: &Certified) -> HttpReceivers {
    let mut roots = RootCertStore::empty();
    roots.add(certified.certificate.clone()).expect("a root");
    HttpReceivers::with(Settings { allow_inside: true, roots, limit: LIMIT })
}

/// Sends to a receiver with a certificate, and keeps the connection for as many requests.
async fn exchange(
    receivers: &HttpReceivers,
    host: &str,
    certified: &Certified,
    times: usize,
) -> Vec<Reply> {
    let receiver = Receiver::new().await;
    let url = format!("https://{host}:{}/hook", receiver.port());
    let serves = async {
        let Ok(mut stream) = certified.acceptor.accept(receiver.accept().await).await else {
            return;
        };
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        for _ in 0..times {
            let request = read_request(&mut stream).await;
            assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            stream.write_all(answer).await.expect("written");
            stream.flush().await.expect("flushed");
        }
        pause(20).await;
    };
    let sends = async {
        let mut replies = Vec::new();
        for _ in 0..times {
            replies.push(send(receivers, &url).await);
            pause(5).await;
        }
        replies
    };
    let (replies, ()) = tokio::join!(sends, serves);
    replies
}

#[tokio::test]
async fn a_trusted_certificate_for_the_name_is_good() {
    let certified = Certified::for_names(&["localhost", "127.0.0.1"]);
    let receivers = trusting(&certified);
    for host in ["localhost", "127.0.0.1"] {
        let replies = exchange(&receivers, host, &certified, 2).await;
        assert_eq!(replies, [answered(200, "ok"), answered(200, "ok")], "{host}");
    }
}

#[tokio::test]
async fn a_stranger_is_refused() {
    let receivers = trusting(&Certified::for_names(&["localhost"]));
    let stranger = Certified::for_names(&["localhost"]);
    let replies = exchange(&receivers, "localhost", &stranger, 1).await;
    assert_eq!(replies, [failed("TLS: certificate not trusted")]);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let certified = Certified::for_names(&["shop.example"]);
    let receivers = trusting(&certified);
    for host in ["localhost", "127.0.0.1"] {
        let replies = exchange(&receivers, host, &certified, 1).await;
        assert_eq!(replies, [failed("TLS: certificate is for another name")], "{host}");
    }
}

#[tokio::test]
async fn nothing_can_be_verified_without_roots() {
    let receiver = Receiver::new().await;
    let url = format!("https://127.0.0.1:{}/hook", receiver.port());
    let Reply::Failed(text) = send(&receivers(), &url).await else { panic!("answered") };
    assert!(text.starts_with("TLS: there is no root certificate"), "{text}");
    assert!(receiver.is_left_alone().await);
}

#[tokio::test]
async fn a_receiver_without_tls_is_told_from_one_that_hangs() {
    let receivers = trusting(&Certified::for_names(&["localhost"]));
    let receiver = Receiver::new().await;
    let url = format!("https://localhost:{}/hook", receiver.port());
    let plain = async {
        let mut stream = receiver.accept().await;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("written");
        stream
    };
    let (reply, _stream) = tokio::join!(send(&receivers, &url), plain);
    assert_eq!(reply, failed("TLS: the receiver does not speak TLS"));
    let (reply, _stream) = tokio::join!(send(&receivers, &url), receiver.accept());
    assert_eq!(reply, failed(LATE));
}
