//! Sets a schema as a table of fields: nested ones below their parent, types in words, bounds as
//! notes. It reads the parts of JSON Schema that our contract uses.

use maud::{Markup, html};
use serde_json::Value;

use super::prose;
use super::spec::{Spec, entries, items, text};

/// A schema that contains itself ends here; ours are at most four levels deep.
const DEPTH_MAX: usize = 6;

/// Whose table it is. What we write is always complete; what we read may leave fields out.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Request,
    Answer,
}

/// The fields of a body.
pub(super) fn fields(spec: &Spec, schema: &Value, side: Side, caption: &str) -> Markup {
    let shape = Shape::of(spec, schema);
    let mut rows = Vec::new();
    collect(&shape, side, 0, &mut rows);
    html! {
        @if !shape.is_plain_object() {
            p.shape { "The body is " (with_article(&shape.words())) "." }
        }
        @if !rows.is_empty() {
            table.fields role="table" {
                caption.unseen { (caption) }
                (head(&["Field", "Type", "Notes"]))
                tbody role="rowgroup" { @for row in &rows { (field(row, side)) } }
            }
        }
    }
}

/// The head of a table. Roles are spelled out, since on small screens rows are set as blocks, and
/// some browsers then forget that they are rows.
pub(super) fn head(columns: &[&str]) -> Markup {
    html! {
        thead role="rowgroup" {
            tr role="row" {
                @for column in columns { th role="columnheader" scope="col" { (column) } }
            }
        }
    }
}

/// Type and notes of a single value, for parameters and headers.
pub(super) fn value(spec: &Spec, schema: &Value) -> (String, Vec<String>) {
    let shape = Shape::of(spec, schema);
    (shape.words(), shape.bounds(Side::Request))
}

struct Row {
    depth: usize,
    name: String,
    words: String,
    required: bool,
    description: String,
    bounds: Vec<String>,
}

fn field(row: &Row, side: Side) -> Markup {
    html! {
        tr role="row" class={ "depth-" (row.depth) } {
            th role="rowheader" scope="row" {
                code { (row.name) }
                @if side == Side::Request && row.required { span.needed { "required" } }
            }
            td.type role="cell" { (row.words) }
            td role="cell" { (notes(&row.description, &row.bounds)) }
        }
    }
}

/// A description with its bounds behind it.
pub(super) fn notes(description: &str, bounds: &[String]) -> Markup {
    html! {
        (prose::inline(description))
        @for bound in bounds { " " span.bound { (prose::inline(bound)) } }
    }
}

fn collect(shape: &Shape, side: Side, depth: usize, rows: &mut Vec<Row>) {
    if depth > DEPTH_MAX {
        return;
    }
    for body in shape.alternatives() {
        for (name, property) in entries(&body["properties"]) {
            let child = Shape::of(shape.spec, property);
            rows.push(Row {
                depth,
                name: name.to_owned(),
                words: child.words(),
                required: items(&body["required"]).any(|required| required == name),
                description: child.description().to_owned(),
                bounds: child.bounds(side),
            });
            collect(&child, side, depth + 1, rows);
        }
    }
}

/// A schema with its references followed, and what its elements are if it is a list.
struct Shape<'a> {
    spec: &'a Spec,
    /// As it was written, where a description beside a reference wins over the one behind it.
    written: &'a Value,
    own: &'a Value,
}

impl<'a> Shape<'a> {
    fn of(spec: &'a Spec, written: &'a Value) -> Self {
        Self { spec, written, own: spec.resolve(written) }
    }

    fn elements(&self) -> Option<Self> {
        self.own.get("items").map(|items| Self::of(self.spec, items))
    }

    /// The object schemas it may hold, through lists and choices.
    fn alternatives(&self) -> Vec<&'a Value> {
        if let Some(elements) = self.elements() {
            return elements.alternatives();
        }
        let choices = items(&self.own["oneOf"]).chain(items(&self.own["anyOf"]));
        let inner = choices.flat_map(|choice| Self::of(self.spec, choice).alternatives());
        std::iter::once(self.own).chain(inner).collect()
    }

    fn is_plain_object(&self) -> bool {
        self.own["type"] == "object"
    }

    fn description(&self) -> &'a str {
        match text(&self.written["description"]) {
            "" => text(&self.own["description"]),
            own => own,
        }
    }

    /// Its type in words, such as `date-time or null` or `array of objects`.
    fn words(&self) -> String {
        if let Some(elements) = self.elements() {
            return format!("array of {}s", elements.words().replace(" or ", "s or "));
        }
        let choices = items(&self.own["oneOf"]).chain(items(&self.own["anyOf"]));
        let mut words: Vec<String> = choices.map(|c| Self::of(self.spec, c).words()).collect();
        let types = &self.own["type"];
        let named = match types {
            Value::String(name) => vec![name.as_str()],
            several => items(several).map(text).collect(),
        };
        words.extend(named.iter().map(|name| match (*name, text(&self.own["format"])) {
            ("string", format @ "date-time") => format.to_owned(),
            ("string", "uuid") => "UUID".to_owned(),
            (name, _) => name.to_owned(),
        }));
        if words.is_empty() { "any value".to_owned() } else { words.join(" or ") }
    }

    /// What limits its values, each as a short sentence. A reader of our answers need not know how
    /// long a text may be; a writer must.
    fn bounds(&self, side: Side) -> Vec<String> {
        let own = self.own;
        let mut bounds = Vec::new();
        let mut choices = items(&own["enum"]).map(|choice| format!("`{}`", plain(choice)));
        if let Some(first) = choices.next() {
            bounds.push(choices.fold(format!("One of {first}"), |all, c| format!("{all}, {c}")));
        }
        if side == Side::Request {
            bounds.extend(range(&own["minimum"], &own["maximum"], ""));
            bounds.extend(range(&own["minLength"], &own["maxLength"], " characters"));
            bounds.extend(range(&own["minItems"], &own["maxItems"], " entries"));
            bounds.extend(own.get("pattern").map(|shape| format!("Matches `{}`", plain(shape))));
            bounds.extend(own.get("default").map(|value| match plain(value).as_str() {
                "" => "Default `\"\"`".to_owned(),
                text => format!("Default `{text}`"),
            }));
        }
        bounds.iter().map(|bound| format!("{bound}.")).collect()
    }
}

fn range(least: &Value, most: &Value, unit: &str) -> Option<String> {
    match (least.as_i64(), most.as_i64()) {
        (Some(1), None) if !unit.is_empty() => Some("Not empty".to_owned()),
        (Some(least), Some(most)) => Some(format!("{} to {}{unit}", spaced(least), spaced(most))),
        (Some(least), None) => Some(format!("At least {}{unit}", spaced(least))),
        (None, Some(most)) => Some(format!("At most {}{unit}", spaced(most))),
        (None, None) => None,
    }
}

/// A number with its thousands separated.
fn spaced(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = if number < 0 { "−".to_owned() } else { String::new() };
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn with_article(words: &str) -> String {
    let article = if words.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {words}")
}
