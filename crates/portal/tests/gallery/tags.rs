//! A reader of tags, just good enough for markup that we write ourselves.

/// An opening tag, or a closing one by a name that starts with a slash.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

impl Tag {
    /// The value of an attribute; empty where it has none.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// All tags of a page, in order.
pub(crate) fn tags(page: &str) -> Vec<Tag> {
    page.split('<').skip(1).map(tag).collect()
}

fn tag(text: &str) -> Tag {
    let (name, mut rest) = split(text);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with('>') {
            return Tag { name: name.to_owned(), attributes };
        }
        let (attribute, after) = split(rest);
        let Some(quoted) = after.strip_prefix("=\"") else {
            attributes.push((attribute.to_owned(), String::new()));
            rest = after;
            continue;
        };
        let (value, after) = quoted.split_once('"').expect("a value ends with a quote");
        attributes.push((attribute.to_owned(), value.to_owned()));
        rest = after;
    }
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_whitespace() || c == '>' || c == '=');
    text.split_at(end.unwrap_or(text.len()))
}
