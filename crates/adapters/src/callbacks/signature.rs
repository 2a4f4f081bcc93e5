//! Signatures of callbacks: by the organisation's primary API key, and by the Standard Webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Secret;
use domain::ports::callbacks::SECRET_PREFIX;
use ring::hmac;

/// The value of `X-Signature-SHA256`.
pub fn by_api_key(key: &Secret<String>, body: &[u8]) -> String {
    signed(key.expose().as_bytes(), &[body])
}

/// The value of `webhook-signature`: one signature for each secret that is valid now. A text that
/// is no secret signs nothing.
pub fn by_secrets(secrets: &[Secret<String>], id: &str, seconds: i64, body: &[u8]) -> String {
    let prefix = format!("{id}.{seconds}.");
    let sign = |secret: &Secret<String>| {
        let key = STANDARD.decode(secret.expose().strip_prefix(SECRET_PREFIX)?).ok()?;
        Some(format!("v1,{}", signed(&key, &[prefix.as_bytes(), body])))
    };
    secrets.iter().filter_map(sign).collect::<Vec<_>>().join(" ")
}

fn signed(key: &[u8], parts: &[&[u8]]) -> String {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    for part in parts {
        context.update(part);
    }
    STANDARD.encode(context.sign())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of the contract's example.
    const BODY: &[u8] = concat!(
        r#"{"iccid":"8943001000000026411","alertType":"Utilisation","bundle":{"id":"410000023","#,
        r#""reference":"6513270e-269e-4d37-b2a7-4de452e6b438-0","name":"esim_1GB_7D_PT_V2","#,
        r#""description":"eSIM, 1GB, 7 Days, Portugal, V2","initialQuantity":1000000000,"#,
        r#""remainingQuantity":742000000,"startTime":"2026-05-04T08:15:00Z","#,
        r#""endTime":"2026-05-11T08:15:00Z","unlimited":false}}"#,
    )
    .as_bytes();

    #[test]
    fn the_examples_of_the_contract_come_out() {
        let key = Secret::new("tern-demo-key-0001".to_owned());
        assert_eq!(by_api_key(&key, BODY), "9ALMnlV7RA+0+fA0JrRDDIYiqRFdVuN+m0aqrerhI7I=");
        let secret = Secret::new("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".to_owned());
        let expected = "v1,oZ7mkrVRELfqXWeSjurRsTacWNXqbLwx1vPl0HNBTpg=";
        let one = std::slice::from_ref(&secret);
        assert_eq!(by_secrets(one, "msg_0000000042", 1_777_882_500, BODY), expected);
    }

    #[test]
    fn during_a_rotation_both_secrets_sign() {
        let secrets = ["whsec_YQ==", "whsec_Yg==", "no secret"].map(|s| Secret::new(s.to_owned()));
        let signature = by_secrets(&secrets, "msg_1", 1, b"{}");
        let parts: Vec<_> = signature.split(' ').collect();
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| part.starts_with("v1,") && part.len() == 47));
        assert_ne!(parts[0], parts[1]);
    }
}
