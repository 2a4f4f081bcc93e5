//! Why an attempt failed, in words for a person. They never hold the URL, a secret or the body.

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use hyper_util::client::legacy;
use rustls::CertificateError;

use super::connect::NotConnected;

const CLOSED: &str = "the connection was closed before an answer";

/// The receiver did not answer in time.
pub(super) fn late(limit: Duration) -> String {
    format!("no answer within {} seconds", limit.as_secs_f64())
}

/// A request that brought no answer.
pub(super) fn of_attempt(error: &legacy::Error) -> Cow<'static, str> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(NotConnected(text)) = error.downcast_ref() {
            return text.clone();
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return of_reading(error);
        }
        if let Some(text) = error.downcast_ref().and_then(of_http) {
            return text.into();
        }
        cause = error.source();
    }
    "the attempt broke off".into()
}

fn of_http(error: &hyper::Error) -> Option<&'static str> {
    if error.is_parse_too_large() {
        return Some("the head of the answer is too long");
    }
    if error.is_parse() {
        return Some("the answer is not HTTP/1");
    }
    let is_closed = error.is_incomplete_message() || error.is_canceled() || error.is_closed();
    is_closed.then_some(CLOSED)
}

fn of_reading(error: &io::Error) -> Cow<'static, str> {
    if let Some(error) = by_tls(error) {
        return of_tls(error);
    }
    match error.kind() {
        ErrorKind::ConnectionReset => "the connection was reset before an answer".into(),
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => {
            CLOSED.into()
        }
        kind => format!("the connection broke before an answer: {kind}").into(),
    }
}

/// A connection that did not come about.
pub(super) fn of_connecting(error: &io::Error) -> Cow<'static, str> {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".into(),
        ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable => {
            "the address cannot be reached".into()
        }
        _ => format!("no connection: {error}").into(),
    }
}

/// A handshake of TLS that went wrong.
pub(super) fn of_handshake(error: &io::Error) -> Cow<'static, str> {
    match by_tls(error) {
        Some(error) => of_tls(error),
        None => "TLS: the connection was closed during the handshake".into(),
    }
}

fn by_tls(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

fn of_tls(error: &rustls::Error) -> Cow<'static, str> {
    match error {
        rustls::Error::InvalidCertificate(error) => of_certificate(error).into(),
        rustls::Error::AlertReceived(alert) => {
            format!("TLS: the receiver refused with {alert:?}").into()
        }
        rustls::Error::PeerIncompatible(_) => "TLS: no version or cipher in common".into(),
        rustls::Error::InvalidMessage(_) => "TLS: the receiver does not speak TLS".into(),
        _ => "TLS: the receiver breaks the protocol".into(),
    }
}

fn of_certificate(error: &CertificateError) -> &'static str {
    use CertificateError as E;
    match error {
        E::Expired | E::ExpiredContext { .. } => "TLS: certificate has expired",
        E::NotValidYet | E::NotValidYetContext { .. } => "TLS: certificate is not valid yet",
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            "TLS: certificate is for another name"
        }
        _ => "TLS: certificate not trusted",
    }
}
