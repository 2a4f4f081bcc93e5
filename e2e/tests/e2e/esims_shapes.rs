//! One eSIM with a bundle in use as every version tells it, one below the other. What varies from
//! run to run has a name in capitals; what a version does not have is empty.

/// A version, and how it tells what it knows.
pub(crate) struct Shapes {
    pub(crate) prefixes: &'static [&'static str],
    /// The answer to the apply.
    pub(crate) applied: &'static str,
    /// The list of eSIMs.
    pub(crate) listed: &'static str,
    /// The eSIM alone.
    pub(crate) detail: &'static str,
    /// What happened to it.
    pub(crate) history: &'static str,
    /// What is on it.
    pub(crate) bundles: &'static str,
    /// One bundle of that.
    pub(crate) bundle: &'static str,
    /// Where it is.
    pub(crate) location: &'static str,
    /// Whether a bundle fits, and one that does not.
    pub(crate) compatible: [&'static str; 2],
    /// How to install it, as JSON.
    pub(crate) install: &'static str,
    /// The answers to a note on it, to a refresh and to a text message.
    pub(crate) said: [&'static str; 3],
}

pub(crate) const ALL: [Shapes; 6] = [
    Shapes {
        prefixes: &["/v2", "/v2.0"],
        applied: "",
        listed: r#"{"esims":[
            {"iccid":"ICCID","customerRef":"booking 5512",
             "lastAction":"eSIM Utilisation Alert","actionDate":"TIME"}]}"#,
        detail: r#"{"iccid":"ICCID","matchingId":"CODE","smdpAddress":"rsp.example",
          "profileStatus":"Installed","pin":"4182","puk":"90314477",
          "firstInstalledDateTime":"TIME"}"#,
        history: "",
        bundles: r#"{"Promotions":[
            {"moniker":"PT","activeOffers":[
              {"elementId":"1","offerId":"ID","callTypeGroup":"data",
               "initialQuantity":"1000000000","remainingQuantity":"742000000",
               "startTime":"TIME","endTime":"TIME"}]}]}"#,
        bundle: r#"{"activeOffers":[
            {"elementId":"1","offerId":"ID","callTypeGroup":"data",
             "initialQuantity":"1000000000","remainingQuantity":"742000000",
             "startTime":"TIME","endTime":"TIME"}]}"#,
        location: "",
        compatible: ["", ""],
        install: "",
        said: ["", "", r#"{"message":"Message sent"}"#],
    },
    Shapes {
        prefixes: &["/v2.1"],
        applied: r#"{"esims":[{"iccid":"ICCID","status":"Successfully Applied Bundle"}],
          "applyReference":"REF"}"#,
        listed: r#"{"esims":[
            {"iccid":"ICCID","customerRef":"booking 5512",
             "lastAction":"eSIM Utilisation Alert","actionDate":"TIME",
             "physical":false,"assignedDate":"TIME"}]}"#,
        detail: r#"{"iccid":"ICCID","matchingId":"CODE","smdpAddress":"rsp.example",
          "profileStatus":"Installed","pin":"4182","puk":"90314477",
          "firstInstalledDateTime":"TIME"}"#,
        history: r#"[
            {"name":"eSIM Utilisation Alert","date":"TIME"},
            {"name":"eSIM First Use","date":"TIME"},
            {"name":"eSIM First Attachment","date":"TIME"},
            {"name":"eSIM Updated","date":"TIME"},
            {"name":"Bundle Applied","date":"TIME"}]"#,
        bundles: r#"{"bundles":[
            {"name":"PT","assignments":[
              {"id":"ID","callTypeGroup":"data",
               "initialQuantity":1000000000,"remainingQuantity":742000000,
               "startTime":"TIME","endTime":"TIME"}]}]}"#,
        bundle: r#"{"assignments":[
            {"id":"ID","callTypeGroup":"data",
             "initialQuantity":1000000000,"remainingQuantity":742000000,
             "startTime":"TIME","endTime":"TIME"}]}"#,
        location: r#"{"mobileNetworkCode":"PRTXX","networkName":"Sagres Mobile","country":"PT",
          "lastSeen":"TIME"}"#,
        compatible: ["", ""],
        install: "",
        said: [
            r#"{"message":"success"}"#,
            r#"{"message":"Successfully refreshed SIM"}"#,
            r#"{"message":"Message sent"}"#,
        ],
    },
    Shapes {
        prefixes: &["/v2.2"],
        applied: r#"{"esims":[{"iccid":"ICCID","status":"Successfully Applied Bundle"}],
          "applyReference":"REF"}"#,
        listed: r#"{"esims":[
            {"iccid":"ICCID","customerRef":"booking 5512",
             "lastAction":"eSIM Utilisation Alert","actionDate":"TIME",
             "physical":false,"assignedDate":"TIME"}],
          "pageCount":1,"rows":1,"pageSize":10}"#,
        detail: r#"{"iccid":"ICCID","matchingId":"CODE","smdpAddress":"rsp.example",
          "profileStatus":"Installed","pin":"4182","puk":"90314477",
          "firstInstalledDateTime":"TIME"}"#,
        history: r#"[
            {"name":"eSIM Utilisation Alert","bundle":"PT","date":"TIME","bundleState":"active"},
            {"name":"eSIM First Use","bundle":"PT","date":"TIME","bundleState":"active"},
            {"name":"eSIM First Attachment","bundle":"","date":"TIME","bundleState":""},
            {"name":"eSIM Updated","bundle":"","date":"TIME","bundleState":""},
            {"name":"Bundle Applied","bundle":"PT","date":"TIME","bundleState":"queued"}]"#,
        bundles: r#"{"bundles":[
            {"name":"PT","assignments":[
              {"id":"ID","callTypeGroup":"data",
               "initialQuantity":1000000000,"remainingQuantity":742000000,
               "startTime":"TIME","endTime":"TIME"}]}]}"#,
        bundle: r#"{"assignments":[
            {"id":"ID","callTypeGroup":"data",
             "initialQuantity":1000000000,"remainingQuantity":742000000,
             "startTime":"TIME","endTime":"TIME"}]}"#,
        location: r#"{"mobileNetworkCode":"PRTXX","networkName":"Sagres Mobile","country":"PT",
          "lastSeen":"TIME"}"#,
        compatible: [
            r#"{"compatible":true,"message":"bundle is compatible with esim"}"#,
            r#"{"compatible":false,"message":"bundle not compatible with esim"}"#,
        ],
        install: r#"[
            {"iccid":"ICCID","matchingId":"CODE","rspUrl":"rsp.example",
             "smdpAddress":"rsp.example","bundle":"PT","reference":"REF"}]"#,
        said: [
            r#"{"message":"success"}"#,
            r#"{"message":"Successfully refreshed SIM"}"#,
            r#"{"message":"Message sent"}"#,
        ],
    },
    Shapes {
        prefixes: &["/v2.3"],
        applied: r#"{"esims":[{"iccid":"ICCID","status":"Successfully Applied Bundle"}],
          "applyReference":"REF"}"#,
        listed: r#"{"esims":[
            {"iccid":"ICCID","customerRef":"booking 5512",
             "lastAction":"eSIM Utilisation Alert","actionDate":"TIME",
             "physical":false,"assignedDate":"TIME"}],
          "pageCount":1,"rows":1,"pageSize":10}"#,
        detail: r#"{"iccid":"ICCID","matchingId":"CODE","smdpAddress":"rsp.example",
          "profileStatus":"Installed","pin":"4182","puk":"90314477",
          "firstInstalledDateTime":"TIME"}"#,
        history: r#"[
            {"name":"eSIM Utilisation Alert","bundle":"PT","date":"TIME","bundleState":"active",
             "alertType":"1% Used"},
            {"name":"eSIM First Use","bundle":"PT","date":"TIME","bundleState":"active",
             "alertType":""},
            {"name":"eSIM First Attachment","bundle":"","date":"TIME","bundleState":"",
             "alertType":""},
            {"name":"eSIM Updated","bundle":"","date":"TIME","bundleState":"","alertType":""},
            {"name":"Bundle Applied","bundle":"PT","date":"TIME","bundleState":"queued",
             "alertType":""}]"#,
        bundles: r#"{"bundles":[
            {"name":"PT","assignments":[
              {"id":"ID","callTypeGroup":"data",
               "initialQuantity":1000000000,"remainingQuantity":742000000,
               "startTime":"TIME","endTime":"TIME","assignmentDateTime":"TIME",
               "assignmentReference":"REF-0","bundleState":"active"}]}]}"#,
        bundle: r#"{"assignments":[
            {"id":"ID","callTypeGroup":"data",
             "initialQuantity":1000000000,"remainingQuantity":742000000,
             "startTime":"TIME","endTime":"TIME","assignmentDateTime":"TIME",
             "assignmentReference":"REF-0","bundleState":"active"}]}"#,
        location: r#"{"mobileNetworkCode":"PRTXX","networkName":"Sagres Mobile","country":"PT",
          "lastSeen":"TIME"}"#,
        compatible: [
            r#"{"compatible":true,"message":"bundle is compatible with esim"}"#,
            r#"{"compatible":false,"message":"bundle not compatible with esim"}"#,
        ],
        install: r#"[
            {"iccid":"ICCID","matchingId":"CODE","rspUrl":"rsp.example",
             "smdpAddress":"rsp.example","bundle":"PT","reference":"REF"}]"#,
        said: [
            r#"{"message":"success"}"#,
            r#"{"message":"Successfully refreshed SIM"}"#,
            r#"{"message":"Message sent"}"#,
        ],
    },
    Shapes {
        prefixes: &["/v2.4"],
        applied: r#"{"esims":[
            {"iccid":"ICCID","status":"Successfully Applied Bundle","bundle":"PT"}],
          "applyReference":"REF"}"#,
        listed: r#"{"esims":[
            {"iccid":"ICCID","customerRef":"booking 5512",
             "lastAction":"eSIM Utilisation Alert","actionDate":"TIME",
             "physical":false,"assignedDate":"TIME"}],
          "pageCount":1,"rows":1,"pageSize":10}"#,
        detail: r#"{"iccid":"ICCID","matchingId":"CODE","smdpAddress":"rsp.example",
          "profileStatus":"Installed","pin":"4182","puk":"90314477",
          "firstInstalledDateTime":"MILLISECONDS","customerRef":"booking 5512"}"#,
        history: r#"{"actions":[
            {"name":"eSIM Utilisation Alert","bundleName":"PT","date":"TIME",
             "bundleState":"active","alertType":"1% Used"},
            {"name":"eSIM First Use","bundleName":"PT","date":"TIME","bundleState":"active",
             "alertType":""},
            {"name":"eSIM First Attachment","bundleName":"","date":"TIME","bundleState":"",
             "alertType":""},
            {"name":"eSIM Updated","bundleName":"","date":"TIME","bundleState":"",
             "alertType":""},
            {"name":"Bundle Applied","bundleName":"PT","date":"TIME","bundleState":"queued",
             "alertType":""}],
          "rows":5,"pageCount":1,"pageSize":5}"#,
        bundles: r#"{"bundles":[
            {"name":"PT","description":"eSIM, 1GB, 7 Days, Portugal, V2","assignments":[
              {"id":"ID","callTypeGroup":"data",
               "initialQuantity":1000000000,"remainingQuantity":742000000,
               "startTime":"TIME","endTime":"TIME","assignmentDateTime":"TIME",
               "assignmentReference":"REF-0","bundleState":"active","unlimited":false}]}]}"#,
        bundle: r#"{"assignments":[
            {"id":"ID","callTypeGroup":"data",
             "initialQuantity":1000000000,"remainingQuantity":742000000,
             "startTime":"TIME","endTime":"TIME","assignmentDateTime":"TIME",
             "assignmentReference":"REF-0","bundleState":"active","unlimited":false}]}"#,
        location: r#"{"mobileNetworkCode":"PRTXX","networkName":"Sagres Mobile",
          "networkBrandName":"Sagres","country":"PT","lastSeen":"TIME"}"#,
        compatible: [r#"{"compatible":true}"#, r#"{"compatible":false}"#],
        install: r#"[
            {"iccid":"ICCID","matchingId":"CODE","rspUrl":"rsp.example",
             "smdpAddress":"rsp.example","bundle":"PT","reference":"REF",
             "profileStatus":"Installed","pin":"4182","puk":"90314477",
             "firstInstalledDateTime":"TIME"}]"#,
        said: [
            r#"{"status":"success"}"#,
            r#"{"status":"Successfully refreshed SIM"}"#,
            r#"{"status":"sent"}"#,
        ],
    },
    Shapes {
        prefixes: &["/v2.5"],
        applied: r#"{"esims":[
            {"iccid":"ICCID","status":"Successfully Applied Bundle","bundle":"PT"}],
          "applyReference":"REF"}"#,
        listed: r#"{"esims":[
            {"iccid":"ICCID","customerRef":"booking 5512",
             "lastAction":"eSIM Utilisation Alert","actionDate":"TIME",
             "physical":false,"assignedDate":"TIME","msisdn":"447700900123","state":"active"}],
          "pageCount":1,"rows":1,"pageSize":10}"#,
        detail: r#"{"iccid":"ICCID","matchingId":"CODE","smdpAddress":"rsp.example",
          "profileStatus":"Installed","pin":"4182","puk":"90314477",
          "firstInstalledDateTime":"MILLISECONDS","customerRef":"booking 5512",
          "msisdn":"447700900123","state":"active","brandingId":"(default)",
          "profileName":"Profile 1",
          "appleInstallUrl":
            "https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA:1$rsp.example$CODE",
          "androidInstallUrl":
          "https://esimsetup.android.com/esim_qrcode_provisioning?carddata=LPA:1$rsp.example$CODE"
          }"#,
        history: r#"{"actions":[
            {"name":"eSIM Utilisation Alert","bundleName":"PT","date":"TIME",
             "bundleState":"active","alertType":"1% Used"},
            {"name":"eSIM First Use","bundleName":"PT","date":"TIME","bundleState":"active",
             "alertType":""},
            {"name":"eSIM First Attachment","bundleName":"","date":"TIME","bundleState":"",
             "alertType":""},
            {"name":"eSIM Updated","bundleName":"","date":"TIME","bundleState":"",
             "alertType":""},
            {"name":"Bundle Applied","bundleName":"PT","date":"TIME","bundleState":"queued",
             "alertType":""}],
          "rows":5,"pageCount":1,"pageSize":5}"#,
        bundles: r#"{"bundles":[
            {"name":"PT","description":"eSIM, 1GB, 7 Days, Portugal, V2","assignments":[
              {"id":"ID","callTypeGroup":"data",
               "initialQuantity":1000000000,"remainingQuantity":742000000,
               "startTime":"TIME","endTime":"TIME","assignmentDateTime":"TIME",
               "assignmentReference":"REF-0","bundleState":"active","unlimited":false,
               "allowances":[
                {"type":"DATA","service":"ROAMING","description":"1GB of data",
                 "initialAmount":1000,"remainingAmount":742,"unit":"MB","unlimited":false}]}]}]}"#,
        bundle: r#"{"assignments":[
            {"id":"ID","callTypeGroup":"data",
             "initialQuantity":1000000000,"remainingQuantity":742000000,
             "startTime":"TIME","endTime":"TIME","assignmentDateTime":"TIME",
             "assignmentReference":"REF-0","bundleState":"active","unlimited":false,
             "allowances":[
              {"type":"DATA","service":"ROAMING","description":"1GB of data",
               "initialAmount":1000000000,"remainingAmount":742000000,"unit":"BYTES",
               "unlimited":false}]}]}"#,
        location: r#"{"mobileNetworkCode":"PRTXX","networkName":"Sagres Mobile",
          "networkBrandName":"Sagres","country":"PT","lastSeen":"TIME"}"#,
        compatible: [r#"{"compatible":true}"#, r#"{"compatible":false}"#],
        install: r#"[
            {"iccid":"ICCID","matchingId":"CODE","rspUrl":"rsp.example",
             "smdpAddress":"rsp.example","bundle":"PT","reference":"REF",
             "profileStatus":"Installed","pin":"4182","puk":"90314477",
             "firstInstalledDateTime":"TIME"}]"#,
        said: [
            r#"{"status":"success"}"#,
            r#"{"status":"Successfully refreshed SIM"}"#,
            r#"{"status":"sent"}"#,
        ],
    },
];
