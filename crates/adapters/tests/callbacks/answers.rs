//! Receivers that answer badly, slowly, without end, or not at all.

use std::time::Duration;

use domain::limits;
use domain::ports::callbacks::{Receivers as _, Reply};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpSocket;

use crate::receiver::{Receiver, is_closed, is_open, pause};
use crate::{CLOSED, LATE, LIMIT, SLACK, answered, failed, monotonic, receivers, send, unsigned};

/// The reply to an answer after which the connection is dropped.
async fn dropped(answer: &[u8]) -> Reply {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let (reply, (_, stream)) = tokio::join!(send(&receivers, &url), receiver.answer(answer));
    assert!(is_closed(stream).await, "{reply:?}");
    reply
}

/// The reply to an answer after which the connection is kept.
async fn kept(answer: &[u8]) -> Reply {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let (reply, (_, stream)) = tokio::join!(send(&receivers, &url), receiver.answer(answer));
    assert!(is_open(stream).await, "{reply:?}");
    reply
}

#[tokio::test]
async fn a_receiver_that_never_answers_is_left_in_time() {
    assert_eq!(dropped(b"").await, failed(LATE));
    assert_eq!(dropped(b"HTTP/1.1 200 OK\r\n").await, failed(LATE));
}

#[tokio::test]
async fn one_that_answers_byte_by_byte_is_left_in_time() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let drips = async {
        let (_, mut stream) = receiver.answer(b"").await;
        for byte in b"HTTP/1.1 200 OK\r\n\r\n" {
            pause(50).await;
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
    };
    let (reply, ()) = tokio::join!(send(&receivers, &url), drips);
    assert_eq!(reply, failed(LATE));
}

#[tokio::test]
async fn one_that_continues_for_ever_is_left_in_time() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let continues = async {
        let (_, mut stream) = receiver.answer(b"").await;
        while stream.write_all(&b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)).await.is_ok() {
            pause(1).await;
        }
    };
    let (reply, ()) = tokio::join!(send(&receivers, &url), continues);
    assert_eq!(reply, failed(LATE));
}

#[tokio::test]
async fn an_endless_body_counts_by_its_status_and_costs_the_connection() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let begun = monotonic();
    let floods = async {
        let (_, mut stream) = receiver.answer(b"HTTP/1.1 201 Created\r\n\r\n").await;
        while stream.write_all(&[b'x'; 8192]).await.is_ok() {}
    };
    let (reply, ()) = tokio::join!(send(&receivers, &url), floods);
    assert_eq!(reply, answered(201, &"x".repeat(limits::CALLBACK_ANSWER_KEPT)));
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_long_body_is_cut_and_the_connection_closed() {
    let most = limits::CALLBACK_ANSWER_BYTES_MAX;
    let with_body = |length: usize| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        [head.into_bytes(), vec![b'x'; length]].concat()
    };
    let expected = answered(200, &"x".repeat(limits::CALLBACK_ANSWER_KEPT));
    assert_eq!(kept(&with_body(most)).await, expected.clone());
    assert_eq!(dropped(&with_body(4 * most)).await, expected);
}

#[tokio::test]
async fn a_slow_body_counts_by_its_status_and_keeps_what_came() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let drips = async {
        let (_, mut stream) =
            receiver.answer(b"HTTP/1.1 500 Oh\r\ncontent-length: 100\r\n\r\nno").await;
        pause(1_000).await;
        let _ = stream.write_all(b"!").await;
        is_closed(stream).await
    };
    let (reply, is_closed) = tokio::join!(send(&receivers, &url), drips);
    assert_eq!(reply, answered(500, "no"));
    assert!(is_closed);
}

#[tokio::test]
async fn a_body_that_breaks_counts_by_its_status() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nno chunk\r\n",
    ] {
        let (receiver, receivers) = (Receiver::new().await, receivers());
        let url = receiver.url();
        let closes = async { drop(receiver.answer(answer.as_bytes()).await) };
        let (reply, ()) = tokio::join!(send(&receivers, &url), closes);
        assert_eq!(reply, answered(200, "half"));
    }
}

#[tokio::test]
async fn the_text_of_an_answer_is_made_harmless() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
        3\r\na\x1b\n\r\n4\r\n\xc3\xa9\xff!\r\n0\r\n\r\n";
    assert_eq!(kept(chunked).await, answered(200, "a  é\u{fffd}!"));
}

#[tokio::test]
async fn a_connection_closed_before_an_answer_is_told_from_a_reset() {
    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\n"] {
        let (receiver, receivers) = (Receiver::new().await, receivers());
        let url = receiver.url();
        let closes = async { drop(receiver.answer(answer).await) };
        let (reply, ()) = tokio::join!(send(&receivers, &url), closes);
        assert_eq!(reply, failed(CLOSED));
    }
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    // Closing with something unread resets.
    let resets = async { drop(receiver.accept().await) };
    let (reply, ()) = tokio::join!(send(&receivers, &url), resets);
    let Reply::Failed(text) = reply else { panic!("{reply:?}") };
    assert!(text.starts_with("the connection was"), "{text}");
}

#[tokio::test]
async fn nobody_listening_is_a_refused_connection() {
    let socket = TcpSocket::new_v4().expect("a socket");
    // Bound but not listening: the port is nobody else's, and it refuses.
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let port = socket.local_addr().expect("bound").port();
    let url = format!("http://127.0.0.1:{port}/?secret=1");
    assert_eq!(send(&receivers(), &url).await, failed("connection refused"));
}

#[tokio::test]
async fn what_is_not_http_is_said_not_to_be() {
    let not_http = failed("the answer is not HTTP/1");
    for answer in [
        &b"220 mail.example ESMTP\r\n\r\n"[..],
        b"\x15\x03\x01\x00\x02\x02\x46 not for you, really not",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    ] {
        assert_eq!(dropped(answer).await, not_http.clone());
    }
}

#[tokio::test]
async fn a_head_that_is_too_long_is_not_read() {
    let too_long = failed("the head of the answer is too long");
    let long = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(256 * 1024));
    assert_eq!(dropped(long.as_bytes()).await, too_long.clone());
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(1_000));
    assert_eq!(dropped(many.as_bytes()).await, too_long);
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let elsewhere = Receiver::new().await;
    for status in [301, 302, 307] {
        let answer = format!(
            "HTTP/1.1 {status} Moved\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
            elsewhere.url()
        );
        assert_eq!(kept(answer.as_bytes()).await, answered(status, ""));
    }
    assert!(elsewhere.is_left_alone().await);
}

#[tokio::test]
async fn waiting_is_heard_with_any_status() {
    for (status, asked, expected_ms) in [
        (503, "120", 120_000),
        (200, "120", 120_000),
        (429, "Mon, 04 May 2026 08:17:00 GMT", 119_001),
    ] {
        let answer =
            format!("HTTP/1.1 {status} x\r\nretry-after: {asked}\r\ncontent-length: 0\r\n\r\n");
        let retry_after = Some(Duration::from_millis(expected_ms));
        let expected = Reply::Answered { status, retry_after, start: String::new() };
        assert_eq!(kept(answer.as_bytes()).await, expected);
    }
}

#[tokio::test]
async fn a_receiver_that_reads_nothing_is_left_in_time() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let mut callback = unsigned(&receiver.url());
    // More than the buffers of both sides hold.
    callback.body = "x".repeat(16 * 1024 * 1024);
    let begun = monotonic();
    let (reply, stream) = tokio::join!(receivers.send(&callback), receiver.accept());
    assert_eq!(reply, failed(LATE));
    assert!(begun.elapsed() < LIMIT + SLACK, "{:?}", begun.elapsed());
    assert!(is_closed(stream).await);
}
