//! Connections are used again, and one that was closed meanwhile costs no attempt.

use domain::ports::callbacks::Receivers as _;
use tokio::io::AsyncWriteExt;

use crate::receiver::{Receiver, is_open, pause, read_request};
use crate::{answered, receivers, send, unsigned};

const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood";

#[tokio::test]
async fn a_connection_is_used_again() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    let sends = async {
        for _ in 0..5 {
            assert_eq!(send(&receivers, &url).await, answered(200, "good"));
            // The connection goes back to the pool a moment after its answer was read.
            pause(5).await;
        }
    };
    let serves = async {
        let (_, mut stream) = receiver.answer(GOOD).await;
        for _ in 0..4 {
            read_request(&mut stream).await;
            stream.write_all(GOOD).await.expect("written");
        }
        stream
    };
    let ((), _stream) = tokio::join!(sends, serves);
    assert!(receiver.is_left_alone().await);
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_is_replaced() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let url = receiver.url();
    for pause_ms in [0, 1, 20] {
        let (reply, (_, stream)) = tokio::join!(send(&receivers, &url), receiver.answer(GOOD));
        assert_eq!(reply, answered(200, "good"));
        pause(5).await;
        drop(stream);
        pause(pause_ms).await;
    }
}

#[tokio::test]
async fn many_at_once_take_many_connections_and_keep_them() {
    let (receiver, receivers) = (Receiver::new().await, receivers());
    let callback = unsigned(&receiver.url());
    let sends = async { tokio::join!(receivers.send(&callback), receivers.send(&callback)) };
    let serves = async {
        // The second is there before the first is answered.
        let (mut one, mut two) = (receiver.accept().await, receiver.accept().await);
        for stream in [&mut one, &mut two] {
            read_request(stream).await;
            stream.write_all(GOOD).await.expect("written");
        }
        [one, two]
    };
    let (replies, streams) = tokio::join!(sends, serves);
    assert_eq!(replies, (answered(200, "good"), answered(200, "good")));
    for stream in streams {
        assert!(is_open(stream).await);
    }
}
