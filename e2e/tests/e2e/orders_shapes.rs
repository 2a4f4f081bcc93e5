//! The same five orders and a top-up as every version tells them, one below the other. What varies
//! from run to run has a name in capitals.

/// A version, and how it tells what happened.
pub(crate) struct Shapes {
    pub(crate) prefixes: &'static [&'static str],
    /// Asked for beside everything else.
    pub(crate) query: &'static str,
    /// Three bundles, only checked.
    pub(crate) checked: &'static str,
    /// Two items into the inventory.
    pub(crate) stocked: &'static str,
    /// Two bundles onto two new eSIMs.
    pub(crate) fresh: &'static str,
    /// One bundle onto an eSIM by name, which might have been replaced.
    pub(crate) named: &'static str,
    /// Two items, one onto a new eSIM, one onto an old one.
    pub(crate) mixed: &'static str,
    /// A top-up of 25 cents, in a list.
    pub(crate) topup: &'static str,
}

pub(crate) const ALL: [Shapes; 6] = [
    Shapes {
        prefixes: &["/v2", "/v2.0", "/v2.1"],
        query: "",
        checked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":3,"subTotal":720,"pricePerUnit":240}],
          "total":720,"valid":true,"currency":"USD","createDate":"TIME","assigned":false}"#,
        stocked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199}],
          "total":679,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME"}"#,
        fresh: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240}],
          "total":480,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME"}"#,
        named: r#"{"order":[
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199}],
          "total":199,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 1 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME"}"#,
        mixed: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":1,"subTotal":240,"pricePerUnit":240},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199}],
          "total":439,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME"}"#,
        topup: r#"{"order":[
            {"type":"apiTopup","item":"NUMBER","quantity":1,"subTotal":25,"pricePerUnit":25}],
          "total":25,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME"}"#,
    },
    Shapes {
        prefixes: &["/v2.2"],
        query: "",
        checked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":3,"subTotal":720,"pricePerUnit":240}],
          "total":720,"valid":true,"currency":"USD","createDate":"TIME","assigned":false}"#,
        stocked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199}],
          "total":679,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME"}"#,
        fresh: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240}],
          "total":480,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME"}"#,
        named: r#"{"order":[
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199}],
          "total":199,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 1 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME"}"#,
        mixed: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":1,"subTotal":240,"pricePerUnit":240},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199}],
          "total":439,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME"}"#,
        topup: r#"{"order":[
            {"type":"apiTopup","item":"NUMBER","quantity":1,"subTotal":25,"pricePerUnit":25,
             "invoiceLink":"LINK"}],
          "total":25,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME"}"#,
    },
    Shapes {
        prefixes: &["/v2.2"],
        query: "?includeIccids=true",
        checked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":3,"subTotal":720,"pricePerUnit":240}],
          "total":720,"valid":true,"currency":"USD","createDate":"TIME","assigned":false}"#,
        stocked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240,
             "iccids":[],"esims":[]},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199,
             "iccids":[],"esims":[]}],
          "total":679,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME","iccids":[]}"#,
        fresh: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240,
             "iccids":["ICCID-1","ICCID-2"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"},
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}]}],
          "total":480,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME","iccids":["ICCID-1","ICCID-2"]}"#,
        named: r#"{"order":[
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199,
             "iccids":["ICCID-1"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"}]}],
          "total":199,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 1 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME","iccids":["ICCID-1"]}"#,
        mixed: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":1,"subTotal":240,"pricePerUnit":240,
             "iccids":["ICCID-3"],"esims":[
              {"iccid":"ICCID-3","matchingId":"CODE-3","smdpAddress":"rsp.example"}]},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199,
             "iccids":["ICCID-2"],"esims":[
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}]}],
          "total":439,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME","iccids":["ICCID-3","ICCID-2"]}"#,
        topup: r#"{"order":[
            {"type":"apiTopup","item":"NUMBER","quantity":1,"subTotal":25,"pricePerUnit":25,
             "iccids":[],"esims":[],"invoiceLink":"LINK"}],
          "total":25,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME"}"#,
    },
    Shapes {
        prefixes: &["/v2.3"],
        query: "",
        checked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":3,"subTotal":720,"pricePerUnit":240}],
          "total":720,"valid":true,"currency":"USD","createDate":"TIME","createdDate":"TIME",
          "assigned":false}"#,
        stocked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240,
             "iccids":[],"esims":[]},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199,
             "iccids":[],"esims":[]}],
          "total":679,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME","createdDate":"TIME","iccids":[]}"#,
        fresh: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":480,"pricePerUnit":240,
             "iccids":["ICCID-1","ICCID-2"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"},
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}]}],
          "total":480,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME","createdDate":"TIME",
          "iccids":["ICCID-1","ICCID-2"]}"#,
        named: r#"{"order":[
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199,
             "iccids":["ICCID-1"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"}]}],
          "total":199,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 1 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME","createdDate":"TIME","iccids":["ICCID-1"]}"#,
        mixed: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":1,"subTotal":240,"pricePerUnit":240,
             "iccids":["ICCID-3"],"esims":[
              {"iccid":"ICCID-3","matchingId":"CODE-3","smdpAddress":"rsp.example"}]},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":199,"pricePerUnit":199,
             "iccids":["ICCID-2"],"esims":[
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}]}],
          "total":439,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createDate":"TIME","createdDate":"TIME",
          "iccids":["ICCID-3","ICCID-2"]}"#,
        topup: r#"{"order":[
            {"type":"apiTopup","item":"NUMBER","quantity":1,"subTotal":25,"pricePerUnit":25,
             "iccids":[],"esims":[],"invoiceLink":"LINK"}],
          "total":25,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createDate":"TIME","createdDate":"TIME"}"#,
    },
    Shapes {
        prefixes: &["/v2.4"],
        query: "",
        checked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":3,"subTotal":7.2,"pricePerUnit":2.4,
             "AllowReassign":false}],
          "total":7.2,"valid":true,"currency":"USD","createdDate":"TIME","assigned":false}"#,
        stocked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":4.8,"pricePerUnit":2.4,
             "iccids":[],"esims":[],"AllowReassign":false},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":1.99,"pricePerUnit":1.99,
             "iccids":[],"esims":[],"AllowReassign":false}],
          "total":6.79,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createdDate":"TIME","assigned":false}"#,
        fresh: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":4.8,"pricePerUnit":2.4,
             "iccids":["ICCID-1","ICCID-2"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"},
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}],
             "AllowReassign":false}],
          "total":4.8,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createdDate":"TIME","assigned":true}"#,
        named: r#"{"order":[
            {"type":"bundle","item":"FR","quantity":1,"subTotal":1.99,"pricePerUnit":1.99,
             "iccids":["ICCID-1"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"}],
             "AllowReassign":true}],
          "total":1.99,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 1 eSIMs assigned",
          "orderReference":"REF","createdDate":"TIME","assigned":true}"#,
        mixed: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":1,"subTotal":2.4,"pricePerUnit":2.4,
             "iccids":["ICCID-3"],"esims":[
              {"iccid":"ICCID-3","matchingId":"CODE-3","smdpAddress":"rsp.example"}],
             "AllowReassign":false},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":1.99,"pricePerUnit":1.99,
             "iccids":["ICCID-2"],"esims":[
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}],
             "AllowReassign":false}],
          "total":4.39,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createdDate":"TIME","assigned":true}"#,
        topup: r#"{"order":[
            {"type":"apiTopup","item":"NUMBER","quantity":1,"subTotal":0.25,"pricePerUnit":0.25,
             "iccids":[],"esims":[],"AllowReassign":false,"invoiceLink":"LINK"}],
          "total":0.25,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createdDate":"TIME","assigned":false}"#,
    },
    Shapes {
        prefixes: &["/v2.5"],
        query: "",
        checked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":3,"subTotal":7.2,"pricePerUnit":2.4,
             "AllowReassign":false}],
          "total":7.2,"valid":true,"currency":"USD","createdDate":"TIME","assigned":false}"#,
        stocked: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":4.8,"pricePerUnit":2.4,
             "iccids":[],"esims":[],"AllowReassign":false},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":1.99,"pricePerUnit":1.99,
             "iccids":[],"esims":[],"AllowReassign":false}],
          "total":6.79,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createdDate":"TIME","assigned":false,
          "runningBalance":"993.21","sourceIP":"127.0.0.1"}"#,
        fresh: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":2,"subTotal":4.8,"pricePerUnit":2.4,
             "iccids":["ICCID-1","ICCID-2"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"},
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}],
             "AllowReassign":false}],
          "total":4.8,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createdDate":"TIME","assigned":true,
          "runningBalance":"988.41","sourceIP":"127.0.0.1"}"#,
        named: r#"{"order":[
            {"type":"bundle","item":"FR","quantity":1,"subTotal":1.99,"pricePerUnit":1.99,
             "iccids":["ICCID-1"],"esims":[
              {"iccid":"ICCID-1","matchingId":"CODE-1","smdpAddress":"rsp.example"}],
             "AllowReassign":true}],
          "total":1.99,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 1 eSIMs assigned",
          "orderReference":"REF","createdDate":"TIME","assigned":true,
          "runningBalance":"986.42","sourceIP":"127.0.0.1"}"#,
        mixed: r#"{"order":[
            {"type":"bundle","item":"PT","quantity":1,"subTotal":2.4,"pricePerUnit":2.4,
             "iccids":["ICCID-3"],"esims":[
              {"iccid":"ICCID-3","matchingId":"CODE-3","smdpAddress":"rsp.example"}],
             "AllowReassign":false},
            {"type":"bundle","item":"FR","quantity":1,"subTotal":1.99,"pricePerUnit":1.99,
             "iccids":["ICCID-2"],"esims":[
              {"iccid":"ICCID-2","matchingId":"CODE-2","smdpAddress":"rsp.example"}],
             "AllowReassign":false}],
          "total":4.39,"currency":"USD","status":"completed",
          "statusMessage":"Order completed: 2 eSIMs assigned",
          "orderReference":"REF","createdDate":"TIME","assigned":true,
          "runningBalance":"982.03","sourceIP":"127.0.0.1"}"#,
        topup: r#"{"order":[
            {"type":"apiTopup","item":"NUMBER","quantity":1,"subTotal":0.25,"pricePerUnit":0.25,
             "iccids":[],"esims":[],"AllowReassign":false,"invoiceLink":"LINK"}],
          "total":0.25,"currency":"USD","status":"completed","statusMessage":"Order completed",
          "orderReference":"REF","createdDate":"TIME","assigned":false,
          "runningBalance":"982.28","sourceIP":""}"#,
    },
];
