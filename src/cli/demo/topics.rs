//! What the demo's papers are about. Everything in them is invented.

/// One kind of study; `{words}` in the texts are replaced by the scenario's numbers and places.
pub struct Topic {
    /// The subject area, one of [`AREAS`].
    pub area: &'static str,
    /// Where a corresponding author of this field works.
    pub departments: &'static [&'static str],
    /// Places that can take part.
    pub places: &'static [&'static str],
    /// Title and running head.
    pub titles: &'static [(&'static str, &'static str)],
    /// The abstract.
    pub summary: &'static str,
    /// Why it matters, in two sentences.
    pub significance: &'static str,
    /// Keywords to choose from.
    pub keywords: &'static [&'static str],
    /// Methods to choose from, all of them in [`METHODS`].
    pub methods: &'static [&'static str],
    /// The introduction.
    pub introduction: [&'static str; 2],
    /// How it was done; `{began}` and `{ended}` are dates.
    pub procedure: &'static str,
    /// What came out.
    pub results: [&'static str; 2],
    /// What it means.
    pub discussion: &'static str,
    /// What it does not show.
    pub limits: &'static str,
    /// The figure: caption, vertical axis, two series.
    pub figure: [&'static str; 4],
}

/// Subject areas that the journal offers.
pub const AREAS: &[&str] = &[
    "Marine ecology",
    "Urban climate",
    "Human–computer interaction",
    "Sleep medicine",
    "Soil science",
    "Population genetics",
    "Materials chemistry",
    "Science of teaching",
    "Atmospheric physics",
];

/// Methods that the journal offers.
pub const METHODS: &[&str] = &[
    "Field survey",
    "Remote sensing",
    "Sensor network",
    "Bayesian modelling",
    "Randomised trial",
    "Interviews",
    "Usability test",
    "Log analysis",
    "Actigraphy",
    "Questionnaire",
    "Laboratory assay",
    "Meta-analysis",
];

/// The topics.
pub const TOPICS: &[Topic] = &[
    Topic {
        area: "Marine ecology",
        departments: &["Institute of Coastal Ecology", "Department of Marine Biology"],
        places: &["Skarv Archipelago", "Alder Sound", "Tasman Reach", "Cape Morrow"],
        titles: &[
            (
                "Kelp forests of the {place} recover within {years} years of a marine heatwave",
                "Kelp recovery after a heatwave",
            ),
            (
                "Urchin removal doubles the pace of kelp recovery in the {place}",
                "Urchin removal and kelp recovery",
            ),
        ],
        summary: "Marine heatwaves thin kelp forests faster than they regrow. We followed {sites} reefs in the {place} for {years} years after a heatwave and compared reefs where grazing urchins were removed with reefs that were left alone. Canopy cover rose by {pct} % a year where urchins were removed and by {low} % elsewhere. Recovery depended on depth and on the distance to the nearest surviving stand, not on water temperature. Removing grazers early is a cheap way to win back a forest before the next heatwave arrives.",
        significance: "Kelp forests shelter young fish and soften waves, and they are vanishing from warming coasts. This study shows that a season of urchin removal lets a reef recover in half the time.",
        keywords: &[
            "kelp",
            "marine heatwave",
            "recovery",
            "sea urchin",
            "canopy cover",
            "restoration",
            "grazing",
        ],
        methods: &["Field survey", "Remote sensing", "Bayesian modelling", "Laboratory assay"],
        introduction: [
            "Kelp forests fringe a quarter of the world's coasts. They feed fisheries, damp storm waves and store carbon, and in the last two decades they have thinned wherever summers have warmed.",
            "Whether a forest comes back depends on who eats the seedlings. Earlier work measured recovery at single reefs; a comparison across a whole coast has been missing.",
        ],
        procedure: "Data collection began on {began} and ended on {ended}. Divers counted stipes along {n} fixed transects on {sites} reefs, and canopy cover was mapped from satellite images with a ground resolution of three metres.",
        results: [
            "Canopy cover returned to its former level on {high} of {sites} reefs. Where urchins had been removed, cover rose by {pct} % a year; elsewhere it rose by {low} %.",
            "Depth explained more of the difference than temperature did. Reefs within two kilometres of a surviving stand recovered first.",
        ],
        discussion: "Removing grazers in the first season buys the seedlings the time they need. Our estimates are conservative, because poached and abandoned plots were counted as untreated.",
        limits: "Our work has limits. Divers could not be blind to the treatment of a reef, storms kept us from the deepest transects in two winters, and satellite images show only what floats. Reefs were chosen where a boat can land, so the most exposed shores are missing from the sample. We also cannot say how long the effect lasts once removal ends; the grazers may return faster than the canopy closes.",
        figure: [
            "Canopy cover after the heatwave, mean of all reefs.",
            "Canopy cover (%)",
            "urchins removed",
            "left alone",
        ],
    },
    Topic {
        area: "Urban climate",
        departments: &["Centre for Urban Climate", "Department of Geography"],
        places: &["Port Ellison", "Nya Hamnen", "Valdora", "Kestrel Bay"],
        titles: &[
            (
                "Street trees cool the nights of {place}: a {years}-year sensor study",
                "Street trees and night-time heat",
            ),
            ("Shade that lasts: tree age and summer nights in {place}", "Tree age and summer nights"),
        ],
        summary: "Hot nights harm people who cannot cool their homes. With {n} low-cost sensors in {place} we measured air temperature on {sites} streets over {years} summers. Streets with mature trees were {low} % less often above the sleeping threshold than treeless streets of the same width, and the difference was largest between midnight and four o'clock. Young trees had no measurable effect for their first six years. Cities that want cool nights should protect the trees they have before they plant new ones.",
        significance: "Night-time heat kills quietly, and mostly in streets without shade. Measurements from a whole city show that keeping old trees does more for sleepers than planting young ones.",
        keywords: &[
            "urban heat",
            "street trees",
            "night-time temperature",
            "low-cost sensors",
            "shade",
            "public health",
            "adaptation",
        ],
        methods: &["Sensor network", "Remote sensing", "Bayesian modelling", "Questionnaire"],
        introduction: [
            "Summer nights in cities have warmed faster than summer days. For people without air conditioning the night decides whether a heatwave is a nuisance or a danger.",
            "Trees shade streets by day, but their effect after sunset is debated: leaves hold warm air close to the ground, and evaporation slows when the sun is gone.",
        ],
        procedure: "Data collection began on {began} and ended on {ended}. We fixed {n} sensors to lamp posts on {sites} streets, three metres above the pavement, and read them every ten minutes.",
        results: [
            "Mature trees lowered the number of hot nights by {low} %. The strongest effect, {pct} %, was found in narrow streets that run from east to west.",
            "Streets planted less than six years ago could not be told from treeless streets. Residents of {high} homes kept sleep diaries that agree with the sensors.",
        ],
        discussion: "The cooling of a mature street is worth more than its shade at noon suggests. Felling for road works should be weighed against a decade of hot nights.",
        limits: "Our work has limits. Lamp posts stand where cars do, so the sensors tell more about streets than about courtyards, and nobody measured inside the homes. Species and soil were recorded but could not be separated with this number of streets. The summers of the study were hotter than those before; in mild years the difference that a tree makes may be smaller, and it may matter less.",
        figure: [
            "Hours above the sleeping threshold, by summer.",
            "Hot hours per night",
            "mature trees",
            "no trees",
        ],
    },
    Topic {
        area: "Human–computer interaction",
        departments: &["Interaction Design Group", "School of Computing"],
        places: &["Lakemont", "Orsa County", "Brightwater", "Saint Aven"],
        titles: &[
            (
                "Long forms, short patience: where people give up on public services in {place}",
                "Where people give up on long forms",
            ),
            ("One question per page? A trial with {n} applicants in {place}", "One question per page"),
        ],
        summary: "Public services ask for the same facts again and again, and people give up. In {place} we tested two versions of a housing application with {n} applicants: one long page, and one question per page. Completion rose by {low} % on the long page when it could be filled from a document that the applicant already had. Errors fell by {pct} %. Most abandoned applications ended at one of {sites} questions whose answer is on a letter that the office itself had sent. Forms should take what they already know.",
        significance: "People lose benefits because forms are tiring, not because they do not qualify. We show which questions stop them and that most of the answers were already on file.",
        keywords: &[
            "forms",
            "public services",
            "completion rate",
            "accessibility",
            "autofill",
            "usability",
            "error prevention",
        ],
        methods: &["Randomised trial", "Usability test", "Log analysis", "Interviews"],
        introduction: [
            "Every office that moves its paperwork to the web moves the tiredness along with it. A form of forty questions is abandoned by every third applicant.",
            "Advice on the length of pages contradicts itself. Some guides ask for one question per page, others for a single page that can be surveyed at a glance.",
        ],
        procedure: "Data collection began on {began} and ended on {ended}. Applicants were assigned at random to one of two versions; {high} of them agreed to think aloud while a researcher watched.",
        results: [
            "The version that took facts from a document was completed by {low} % more people. Typing errors fell by {pct} %.",
            "Of the applications that were never sent, most ended at one of {sites} questions. Each of them asked for a number that the office had issued.",
        ],
        discussion: "Length matters less than repetition. A form that reads what the applicant already holds is short at any length.",
        limits: "Our work has limits. Everybody in the trial had applied once before, so first-time applicants may behave in other ways, and people who need an interpreter were not asked to take part. We saw when a form was left, not why; the interviews tell some of the reasons. The office rewrote two questions in the middle of the trial, and we have left their answers out of every comparison.",
        figure: [
            "Applicants still filling in the form, by question.",
            "Applicants (%)",
            "from a document",
            "typed by hand",
        ],
    },
    Topic {
        area: "Sleep medicine",
        departments: &["Department of Clinical Neuroscience", "Sleep and Work Unit"],
        places: &["Northfield Hospital", "Santa Brisa Clinic", "Elmhurst Infirmary", "Harrow General"],
        titles: &[
            (
                "Slow or fast rotation? Sleep recovery of nurses at {place}",
                "Shift rotation and sleep recovery",
            ),
            (
                "Two nights off are not enough: recovery from night shifts at {place}",
                "Recovery from night shifts",
            ),
        ],
        summary: "Rotating shifts disturb sleep, but it is unclear how long recovery takes. We followed {n} nurses of {place} over {years} years with wrist-worn sensors. After a block of three nights, sleep was back to its usual length on the second day off, yet its timing needed {sites} days. Fast rotation shortened recovery by {low} %. Nurses over fifty needed {pct} % longer than their younger colleagues. Rosters that leave three days after a block of nights would let most people start rested.",
        significance: "Tired nurses make mistakes, and rosters decide how tired they are. Two years of measurements say how many days off a block of nights really costs.",
        keywords: &[
            "shift work",
            "sleep recovery",
            "actigraphy",
            "nurses",
            "circadian rhythm",
            "rosters",
            "fatigue",
        ],
        methods: &["Actigraphy", "Questionnaire", "Interviews", "Bayesian modelling"],
        introduction: [
            "One in five employees works at night. Sleep after a night shift is short, and the debt is paid on days that the roster calls free.",
            "Laboratory studies disagree about the speed of recovery, and few have followed the same people for longer than a month.",
        ],
        procedure: "Data collection began on {began} and ended on {ended}. Participants wore a sensor on the wrist for {sites} weeks a year and filled in a short diary every morning.",
        results: [
            "Sleep length recovered on the second day off; sleep timing took {sites} days. Fast rotation shortened this by {low} %.",
            "Age mattered more than experience. Participants over fifty took {pct} % longer, and {high} of them had asked for other rosters before.",
        ],
        discussion: "Recovery is a matter of timing, not of hours in bed. A roster with three free days after a block of nights costs little and would be felt by everyone on the ward.",
        limits: "Our work has limits. Wrist sensors mistake quiet reading for sleep, and diaries were thinner after hard weeks. Nurses who left the ward during the study are missing from the last year, and they may have been the most tired ones. The rosters were not assigned by chance; people with children had asked for the slow rotation more often, and we could correct for that only in part.",
        figure: [
            "Sleep midpoint after a block of nights.",
            "Delay (hours)",
            "fast rotation",
            "slow rotation",
        ],
    },
];
