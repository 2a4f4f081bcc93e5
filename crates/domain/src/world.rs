//! The world as it is sold: destinations, their names and parts of the world. Says nothing about
//! whether anybody sells them.

use crate::catalogue::Country;

/// Destinations: ISO 3166-1 code (a part of a country has a longer one), English short name, part
/// of the world. Sorted by code. Names hold no comma, since callers ask for several at once.
pub const COUNTRIES: &[(&str, &str, &str)] = &[
    ("AD", "Andorra", "Europe"),
    ("AE", "United Arab Emirates", "Middle East"),
    ("AF", "Afghanistan", "Asia"),
    ("AG", "Antigua and Barbuda", "North America"),
    ("AL", "Albania", "Europe"),
    ("AM", "Armenia", "Asia"),
    ("AO", "Angola", "Africa"),
    ("AR", "Argentina", "South America"),
    ("AT", "Austria", "Europe"),
    ("AU", "Australia", "Oceania"),
    ("AW", "Aruba", "North America"),
    ("AZ", "Azerbaijan", "Asia"),
    ("BA", "Bosnia and Herzegovina", "Europe"),
    ("BB", "Barbados", "North America"),
    ("BD", "Bangladesh", "Asia"),
    ("BE", "Belgium", "Europe"),
    ("BF", "Burkina Faso", "Africa"),
    ("BG", "Bulgaria", "Europe"),
    ("BH", "Bahrain", "Middle East"),
    ("BJ", "Benin", "Africa"),
    ("BM", "Bermuda", "North America"),
    ("BN", "Brunei", "Asia"),
    ("BO", "Bolivia", "South America"),
    ("BR", "Brazil", "South America"),
    ("BS", "Bahamas", "North America"),
    ("BT", "Bhutan", "Asia"),
    ("BW", "Botswana", "Africa"),
    ("BY", "Belarus", "Europe"),
    ("BZ", "Belize", "North America"),
    ("CA", "Canada", "North America"),
    ("CD", "Democratic Republic of the Congo", "Africa"),
    ("CG", "Congo", "Africa"),
    ("CH", "Switzerland", "Europe"),
    ("CI", "Côte d'Ivoire", "Africa"),
    ("CL", "Chile", "South America"),
    ("CM", "Cameroon", "Africa"),
    ("CN", "China", "Asia"),
    ("CO", "Colombia", "South America"),
    ("CR", "Costa Rica", "North America"),
    ("CV", "Cabo Verde", "Africa"),
    ("CW", "Curaçao", "North America"),
    ("CY", "Cyprus", "Europe"),
    ("CZ", "Czechia", "Europe"),
    ("DE", "Germany", "Europe"),
    ("DK", "Denmark", "Europe"),
    ("DM", "Dominica", "North America"),
    ("DO", "Dominican Republic", "North America"),
    ("DZ", "Algeria", "Africa"),
    ("EC", "Ecuador", "South America"),
    ("EE", "Estonia", "Europe"),
    ("EG", "Egypt", "Africa"),
    ("ES", "Spain", "Europe"),
    ("ES-CN", "Canary Islands", "Europe"),
    ("ET", "Ethiopia", "Africa"),
    ("FI", "Finland", "Europe"),
    ("FJ", "Fiji", "Oceania"),
    ("FO", "Faroe Islands", "Europe"),
    ("FR", "France", "Europe"),
    ("GA", "Gabon", "Africa"),
    ("GB", "United Kingdom", "Europe"),
    ("GD", "Grenada", "North America"),
    ("GE", "Georgia", "Asia"),
    ("GG", "Guernsey", "Europe"),
    ("GH", "Ghana", "Africa"),
    ("GI", "Gibraltar", "Europe"),
    ("GL", "Greenland", "North America"),
    ("GM", "Gambia", "Africa"),
    ("GN", "Guinea", "Africa"),
    ("GP", "Guadeloupe", "North America"),
    ("GR", "Greece", "Europe"),
    ("GT", "Guatemala", "North America"),
    ("GU", "Guam", "Oceania"),
    ("GW", "Guinea-Bissau", "Africa"),
    ("GY", "Guyana", "South America"),
    ("HK", "Hong Kong", "Asia"),
    ("HN", "Honduras", "North America"),
    ("HR", "Croatia", "Europe"),
    ("HT", "Haiti", "North America"),
    ("HU", "Hungary", "Europe"),
    ("ID", "Indonesia", "Asia"),
    ("IE", "Ireland", "Europe"),
    ("IL", "Israel", "Middle East"),
    ("IM", "Isle of Man", "Europe"),
    ("IN", "India", "Asia"),
    ("IQ", "Iraq", "Middle East"),
    ("IS", "Iceland", "Europe"),
    ("IT", "Italy", "Europe"),
    ("JE", "Jersey", "Europe"),
    ("JM", "Jamaica", "North America"),
    ("JO", "Jordan", "Middle East"),
    ("JP", "Japan", "Asia"),
    ("KE", "Kenya", "Africa"),
    ("KG", "Kyrgyzstan", "Asia"),
    ("KH", "Cambodia", "Asia"),
    ("KN", "Saint Kitts and Nevis", "North America"),
    ("KR", "South Korea", "Asia"),
    ("KW", "Kuwait", "Middle East"),
    ("KY", "Cayman Islands", "North America"),
    ("KZ", "Kazakhstan", "Asia"),
    ("LA", "Laos", "Asia"),
    ("LB", "Lebanon", "Middle East"),
    ("LC", "Saint Lucia", "North America"),
    ("LI", "Liechtenstein", "Europe"),
    ("LK", "Sri Lanka", "Asia"),
    ("LR", "Liberia", "Africa"),
    ("LS", "Lesotho", "Africa"),
    ("LT", "Lithuania", "Europe"),
    ("LU", "Luxembourg", "Europe"),
    ("LV", "Latvia", "Europe"),
    ("MA", "Morocco", "Africa"),
    ("MC", "Monaco", "Europe"),
    ("MD", "Moldova", "Europe"),
    ("ME", "Montenegro", "Europe"),
    ("MG", "Madagascar", "Africa"),
    ("MK", "North Macedonia", "Europe"),
    ("ML", "Mali", "Africa"),
    ("MM", "Myanmar", "Asia"),
    ("MN", "Mongolia", "Asia"),
    ("MO", "Macao", "Asia"),
    ("MQ", "Martinique", "North America"),
    ("MR", "Mauritania", "Africa"),
    ("MT", "Malta", "Europe"),
    ("MU", "Mauritius", "Africa"),
    ("MV", "Maldives", "Asia"),
    ("MW", "Malawi", "Africa"),
    ("MX", "Mexico", "North America"),
    ("MY", "Malaysia", "Asia"),
    ("MZ", "Mozambique", "Africa"),
    ("NA", "Namibia", "Africa"),
    ("NE", "Niger", "Africa"),
    ("NG", "Nigeria", "Africa"),
    ("NI", "Nicaragua", "North America"),
    ("NL", "Netherlands", "Europe"),
    ("NO", "Norway", "Europe"),
    ("NP", "Nepal", "Asia"),
    ("NZ", "New Zealand", "Oceania"),
    ("OM", "Oman", "Middle East"),
    ("PA", "Panama", "North America"),
    ("PE", "Peru", "South America"),
    ("PF", "French Polynesia", "Oceania"),
    ("PG", "Papua New Guinea", "Oceania"),
    ("PH", "Philippines", "Asia"),
    ("PK", "Pakistan", "Asia"),
    ("PL", "Poland", "Europe"),
    ("PR", "Puerto Rico", "North America"),
    ("PS", "Palestine", "Middle East"),
    ("PT", "Portugal", "Europe"),
    ("PY", "Paraguay", "South America"),
    ("QA", "Qatar", "Middle East"),
    ("RE", "Réunion", "Africa"),
    ("RO", "Romania", "Europe"),
    ("RS", "Serbia", "Europe"),
    ("RU", "Russia", "Europe"),
    ("RW", "Rwanda", "Africa"),
    ("SA", "Saudi Arabia", "Middle East"),
    ("SC", "Seychelles", "Africa"),
    ("SE", "Sweden", "Europe"),
    ("SG", "Singapore", "Asia"),
    ("SI", "Slovenia", "Europe"),
    ("SK", "Slovakia", "Europe"),
    ("SL", "Sierra Leone", "Africa"),
    ("SM", "San Marino", "Europe"),
    ("SN", "Senegal", "Africa"),
    ("SR", "Suriname", "South America"),
    ("SV", "El Salvador", "North America"),
    ("SZ", "Eswatini", "Africa"),
    ("TC", "Turks and Caicos Islands", "North America"),
    ("TD", "Chad", "Africa"),
    ("TG", "Togo", "Africa"),
    ("TH", "Thailand", "Asia"),
    ("TJ", "Tajikistan", "Asia"),
    ("TL", "Timor-Leste", "Asia"),
    ("TN", "Tunisia", "Africa"),
    ("TO", "Tonga", "Oceania"),
    ("TR", "Türkiye", "Europe"),
    ("TT", "Trinidad and Tobago", "North America"),
    ("TW", "Taiwan", "Asia"),
    ("TZ", "Tanzania", "Africa"),
    ("UA", "Ukraine", "Europe"),
    ("UG", "Uganda", "Africa"),
    ("US", "United States", "North America"),
    ("US-HI", "Hawaii", "North America"),
    ("UY", "Uruguay", "South America"),
    ("UZ", "Uzbekistan", "Asia"),
    ("VC", "Saint Vincent and the Grenadines", "North America"),
    ("VE", "Venezuela", "South America"),
    ("VN", "Vietnam", "Asia"),
    ("VU", "Vanuatu", "Oceania"),
    ("WS", "Samoa", "Oceania"),
    ("XK", "Kosovo", "Europe"),
    ("ZA", "South Africa", "Africa"),
    ("ZM", "Zambia", "Africa"),
    ("ZW", "Zimbabwe", "Africa"),
];

/// Parts of the world that are sold as one country: code, name, part of the world, and the code
/// that stands for them in names of bundles, where blanks are not allowed.
pub const REGIONS_SOLD: &[(&str, &str, &str, &str)] = &[
    ("Africa", "Africa", "Africa", "RAFR"),
    ("Asia", "Asia", "Asia", "RASI"),
    ("Europe+", "Europe+", "Europe", "REUP"),
    ("Middle East", "Middle East", "Middle East", "RMEA"),
    ("North America", "North America", "North America", "RNAM"),
    ("Oceania", "Oceania", "Oceania", "ROCE"),
    ("South America", "South America", "South America", "RSAM"),
];

/// The country of that code, or the part of the world that is sold under it. Case matters.
pub fn country(iso: &str) -> Option<Country> {
    let real = || {
        let place = COUNTRIES.binary_search_by_key(&iso, |row| row.0).ok()?;
        Some(COUNTRIES[place])
    };
    let sold_as_one = || {
        let row = REGIONS_SOLD.iter().find(|row| row.0 == iso)?;
        Some((row.0, row.1, row.2))
    };
    let (iso, name, region) = real().or_else(sold_as_one)?;
    Some(Country { iso: iso.to_owned(), name: name.to_owned(), region: region.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::catalogue::REGIONS;

    #[test]
    fn every_country_stands_once_in_order_and_in_a_known_part_of_the_world() {
        assert!(COUNTRIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let rows = || {
            let sold = REGIONS_SOLD.iter().map(|&(iso, name, region, _)| (iso, name, region));
            COUNTRIES.iter().copied().chain(sold)
        };
        let names: HashSet<_> = rows().map(|(_, name, _)| name).collect();
        assert_eq!(names.len(), COUNTRIES.len() + REGIONS_SOLD.len());
        for (iso, name, region) in rows() {
            assert!(REGIONS.contains(&region), "{iso}: {region}");
            assert!(REGIONS_SOLD.iter().any(|sold| sold.2 == region), "{iso}: {region}");
            assert!(!name.contains(','), "{name}");
            assert_eq!(country(iso).map(|country| country.name).as_deref(), Some(name));
        }
        assert!((190..=195).contains(&COUNTRIES.len()), "{}", COUNTRIES.len());
        assert_eq!(country("fr"), None);
    }
}
