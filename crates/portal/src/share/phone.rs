//! Which phone looks at the page, as far as its browser says.

/// What the phone can do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phone {
    /// Opens the link for iPhones, from iOS 17.4 on.
    Apple,
    /// Opens the link for Android.
    Android,
    /// Scans a code, or has it typed in.
    Other,
}

impl Phone {
    /// Reads what a browser calls itself.
    pub(super) fn of(agent: &str) -> Self {
        let is_apple = ["iPhone", "iPad", "iPod"].iter().any(|name| agent.contains(name));
        if is_apple && apple_version(agent) >= Some((17, 4)) {
            return Self::Apple;
        }
        if !is_apple && agent.contains("Android") { Self::Android } else { Self::Other }
    }
}

/// `… CPU iPhone OS 17_4_1 like Mac OS X …`
fn apple_version(agent: &str) -> Option<(u32, u32)> {
    let (_, rest) = agent.split_once(" OS ")?;
    let version = rest.split(' ').next()?;
    let mut parts = version.split('_').map(str::parse::<u32>);
    let major = parts.next()?.ok()?;
    Some((major, parts.next().and_then(Result::ok).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_are_told_apart() {
        let apple = |version: &str| {
            format!("Mozilla/5.0 (iPhone; CPU iPhone OS {version} like Mac OS X) AppleWebKit/605")
        };
        for (agent, phone) in [
            (apple("17_4"), Phone::Apple),
            (apple("17_4_1"), Phone::Apple),
            (apple("18_0"), Phone::Apple),
            (apple("17_3"), Phone::Other),
            (apple("9"), Phone::Other),
            ("Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X)".to_owned(), Phone::Apple),
            ("Mozilla/5.0 (Linux; Android 14; Phone)".to_owned(), Phone::Android),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)".to_owned(), Phone::Other),
            ("iPhone OS ".to_owned(), Phone::Other),
            (String::new(), Phone::Other),
        ] {
            assert_eq!(Phone::of(&agent), phone, "{agent}");
        }
    }
}
