//! What a receiver is sent, byte by byte.

use std::sync::Arc;

use domain::Secret;
use domain::ports::callbacks::{Receivers as _, Signers};

use crate::receiver::Receiver;
use crate::{answered, receivers, send, unsigned};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn the_form_without_a_signature_is_plain() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let (reply, (request, _stream)) = tokio::join!(send(&receivers, &url), receiver.answer(OK));
    assert_eq!(reply, answered(200, ""));
    let expected = format!(
        "POST /hook HTTP/1.1\r\ncontent-type: application/json\r\nuser-agent: Tern\r\n\
         host: 127.0.0.1:{}\r\ncontent-length: 21\r\n\r\n{{\"alertType\":\"Topup\"}}",
        receiver.port(),
    );
    assert_eq!(request, expected);
}

#[tokio::test]
async fn the_signed_form_carries_both_signatures() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let mut callback = unsigned(&receiver.url());
    let secrets = ["whsec_YQ==", "whsec_Yg=="].map(|text| Secret::new(text.to_owned()));
    let api_key = Secret::new("tern-demo-key-0001".to_owned());
    callback.signers = Some(Arc::new(Signers { api_key, secrets: secrets.to_vec() }));
    let (_, (request, _stream)) = tokio::join!(receivers.send(&callback), receiver.answer(OK));
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    assert_eq!(body, callback.body);
    let expected = format!(
        "POST /hook HTTP/1.1\r\ncontent-type: application/json\r\nuser-agent: Tern\r\n\
         x-signature-sha256: TdLfij9Gkh5YY8ig5f0mB8TTc7UklWWvZRmG4X3qmSE=\r\n\
         webhook-id: msg_0000000042\r\nwebhook-timestamp: 1777882500\r\n\
         webhook-signature: v1,X8Ino2AOGE4qSLbylxdp4s+2ZtY05/y6O2twUyLS7Hw= \
         v1,4AxCisLUNJmVIGOEN5pavsCgFizhQl6KkXMyqVye7nw=\r\n\
         host: 127.0.0.1:{}\r\ncontent-length: 21",
        receiver.port(),
    );
    assert_eq!(head, expected);
}

#[tokio::test]
async fn path_and_query_arrive_as_they_are_written() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    for (rest, line) in [
        ("", "POST / HTTP/1.1"),
        ("?key=a%20b&c=(d)", "POST /?key=a%20b&c=(d) HTTP/1.1"),
        ("/a/../b?x=/y#part", "POST /a/../b?x=/y HTTP/1.1"),
        ("#part", "POST / HTTP/1.1"),
    ] {
        let url = format!("http://127.0.0.1:{}{rest}", receiver.port());
        let close = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        let (reply, (request, _stream)) =
            tokio::join!(send(&receivers, &url), receiver.answer(close));
        assert_eq!(reply, answered(204, ""));
        assert_eq!(request.lines().next(), Some(line), "{rest}");
    }
}
