"""Words whose meaning the support check knows: negations, opposites, units, number words, families of forms.

English, German and French; other languages are compared by their words and numbers alone. Everything is in lower case,
without accents (services.chat.support_words folds them).
"""

from __future__ import annotations

from services.chat.languages import word_set

NEGATIONS = word_set(
    "not no never none nobody nothing nowhere neither nor cannot without hardly barely unable forbidden prohibited "
    "dont doesnt didnt isnt arent wasnt werent cant couldnt mustnt shouldnt wont wouldnt hasnt havent hadnt "
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts nirgends ohne weder verboten unzulassig "
    "pas jamais aucun aucune rien personne sans ni interdit interdite non "
    "не нет без никогда ни не никто ничего"
)
NEGATIVE_SIGNS = frozenset("不沒没無无非未否")
"""Of scripts without blanks."""

NEGATED_PREFIXES = ("un", "non", "in", "im", "ir")

STAND_INS = word_set(
    "it they them this these those she he her his its their there that one both each "
    "er sie es dies diese dieser dieses das dort beide jeder jede jedes dabei dafur danach davon darunter darin "
    "il elle ils elles ce cela ceci cette ces ceux celles on y"
)
"""At the head of a sentence: what it is about stands in the one before."""

ENDS_OF_CLAUSES = word_set(
    "and but while whereas although because since which who so then if when unless "
    "und aber sondern wahrend weil obwohl wenn denn dass damit sobald solange "
    "et mais tandis car parce lorsque quand si dont puis"
)

ONE_AFTER_ANOTHER = word_set(
    "then afterwards afterward next thereafter later dann danach anschliessend ensuite puis apres"
)
THAN = word_set("than als que")

OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (word_set(one), word_set(other))
    for one, other in (
        ("more above over exceed exceeds exceeding beyond", "less fewer below under"),
        ("before until", "after since"),
        (
            "minimum min least atleast lowest smallest shortest fewest",
            "maximum max most atmost highest greatest largest longest",
        ),
        ("higher", "lower"), ("longer", "shorter"), ("older oldest", "younger newer youngest newest"),
        ("faster", "slower"), ("larger bigger greater", "smaller"), ("cheaper", "dearer costlier"), ("better", "worse"),
        ("early earlier earliest", "late later latest"), ("first", "last"), ("upper", "lower"),
        (
            "increase increases increased rise rises rose upwards up grow",
            "decrease decreases decreased fall falls fell downwards down shrink",
        ),
        ("open opens opened", "close closes closed"), ("left", "right"), ("always", "never"), ("inside", "outside"),
        ("start starts started", "stop stops stopped"), ("enable enables enabled", "disable disables disabled"),
        ("with", "without"), ("good", "bad"), ("true", "false"), ("allowed permitted", "forbidden prohibited"),
        ("required mandatory", "optional"), ("accept accepts accepted", "reject rejects rejected"), ("hot", "cold"),
        ("mehr uber oberhalb", "weniger unter unterhalb"), ("vor", "nach"), ("bevor vorher", "nachdem nachher"),
        (
            "mindestens atleast kleinste kleinsten kleinster geringste niedrigste kurzeste",
            "hochstens atmost grosste grossten grosster hochste langste",
        ),
        ("langer", "kurzer"), ("hoher", "niedriger"), ("grosser", "kleiner"), ("alter", "junger"),
        ("schneller", "langsamer"),
        ("fruh fruher", "spat spater"), ("offnen geoffnet offen", "schliessen geschlossen zu"),
        ("steigt steigen", "sinkt sinken fallt"),
        ("erste ersten zuerst", "letzte letzten zuletzt"), ("erlaubt", "verboten"), ("warmer", "kalter"),
        ("immer", "nie"),
        ("plus dessus superieur superieure", "moins dessous inferieur inferieure"), ("avant", "apres"),
        ("atleast", "atmost"),
        ("minimum minimale", "maximum maximale"), ("soleil", "ombre"), ("ouvert ouvrir", "ferme fermer"),
        ("premier premiere", "dernier derniere"),
        ("augmente hausse", "diminue baisse"), ("tot", "tard"), ("toujours", "jamais"),
        ("monter montee remontee", "descendre descente"),
    )
)  # fmt: skip

ONE_OF: tuple[tuple[frozenset[str], ...], ...] = tuple(
    tuple(word_set(synonyms) for synonyms in members.split("/"))
    for members in (
        "monday montag lundi mondays/tuesday dienstag mardi tuesdays/wednesday mittwoch mercredi wednesdays/thursday "
        "donnerstag jeudi thursdays/friday freitag vendredi fridays/saturday samstag samedi saturdays/sunday "
        "sonntag dimanche sundays",
        "january januar janvier jan/february februar fevrier feb/march marz mars/april avril apr/mai/june juni juin/"
        "july juli juillet/august aout aug/september septembre sep/october oktober octobre oct okt/"
        "november novembre nov/december dezember decembre dec dez",
        "spring fruhling fruhjahr printemps/summer sommer/autumn herbst automne/winter hiver",
        "red rot rote rouge/green grun grune vert verte/blue blau blaue bleu bleue/yellow gelb gelbe jaune/orange/"
        "black schwarz schwarze noir noire/white weiss weisse blanc blanche/grey gray grau graue gris "
        "grise/brown braun brun",
        "north northern nord nordlich/south southern sud sudlich/east eastern ost ostlich/west western westlich ouest",
        "daily taglich quotidien/weekly wochentlich hebdomadaire/monthly monatlich mensuel/yearly annual "
        "annually jahrlich annuel",
    )
)
"""What stands for one of a kind: naming another one says something else."""

PHRASES: tuple[tuple[str, str], ...] = (
    (r"\b(?:no|not) (?:more|later|higher|greater|larger|further) than\b|\bat (?:the )?most\b"
     r"|\bup to\b|\bau (?:plus|maximum)\b|\bjusqu'a\b|\bmaximal\b|\bspatestens\b|\bnicht mehr als\b", " atmost "),
    (r"\b(?:no|not) (?:less|fewer|sooner|earlier|lower) than\b|\bat (?:the )?least\b|\bau (?:moins|minimum)\b"
     r"|\bnicht weniger als\b|\bfruhestens\b", " atleast "),
    (r"\b(?:no|not) (deeper|longer|older|taller|bigger|wider|faster) than\b", r" atmost \1 "),
    (r"\b(?:no|not) (smaller|shorter|younger|slower) than\b", r" atleast \1 "),
    (r"\bnot only\b|\bnicht nur\b|\bnon seulement\b|\bno doubt\b|\bnothing but\b|\band (?:nobody|no one) else\b", " "),
    (r"\bno one\b", " nobody "),
    (r"\bno longer\b", " not "),
    (r"(?<=\d )may\b|(?<=\bin )may\b|\bmay(?= \d)", "mai"),
)  # fmt: skip
"""Turns of several words that mean one, and `May`, a month beside a number; applied in order to folded text."""

FAMILIES: dict[str, str] = {
    form: forms.split()[0]
    for forms in (
        "deep deeper deepest depth depths", "high height heights tall", "long length lengths", "wide width",
        "strong strength",
        "weigh weight weighs heavy", "begin start begun began starts begins", "large big great", "fast speed",
        "buy bought", "build built", "keep kept keeps retention retain retained", "leave left leaves",
        "take took taken takes",
        "give gave given", "hold held holds", "find found", "see saw seen", "lie lies lay", "fall fell falls fallen",
        "rise rose risen",
        "run ran runs", "set sets", "show shown shows", "tell told", "think thought", "write written wrote",
        "drive driven drove",
        "send sent", "make made", "choose chosen chose", "lose lost loss", "know known knew", "mean means meaning",
        "immediately once", "mult times", "remain stay remains stays", "drop drops dropped",
        "exchange replace replaced",
        "percent prozent pourcent", "beantragt antrag beantragen gestellt",
        "aufbewahr aufbewahrt frist fristen aufbewahrung",
        "gegrundet grundung", "dauer dauert lang", "tief tiefe tiefer", "hoch hohe", "gross grosse",
        "starten startet start startzeit",
        "prelevement prelevements prelever preleve", "signaler signale signalee signalement", "duree dure",
    )
    for form in forms.split()
}  # fmt: skip
"""Irregular forms, by the first of each row."""

NUMBER_WORDS: dict[str, str] = {
    word: str(value)
    for value, words in enumerate(
        (
            "two zwei deux", "three drei trois", "four vier quatre", "five funf cinq", "six sechs", "seven sieben sept",
            "eight acht huit", "nine neun neuf", "ten zehn dix", "eleven elf onze", "twelve zwolf douze",
        ),
        start=2,
    )
    for word in words.split()
}  # fmt: skip

UNITS: dict[str, str] = {
    unit: units.split()[0]
    for units in (
        "m metre metres meter meters metern mètre mètres",
        "km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres",
        "cm centimetre centimetres centimeter zentimeter",
        "mm millimetre millimetres millimeter millimètre millimètres",
        "ft feet foot", "nm", "mi mile miles", "in inch inches zoll",
        "s sec second seconds sekunde sekunden seconde secondes",
        "min minute minutes minuten", "h hour hours stunde stunden heure heures",
        "d day days tag tage tagen jour jours",
        "wk week weeks woche wochen semaine semaines", "mo month months monat monate monaten mois",
        "a year years jahr jahre jahren an ans année années", "ms millisecond milliseconds",
        "% percent prozent pourcent",
        "kg kilogram kilograms kilogramm kilogrammes", "g gram grams gramm grammes", "t tonne tonnes ton tons tonnen",
        "l litre litres liter liters litern", "ml millilitre millilitres milliliter", "kw kilowatt kilowatts",
        "mw megawatt", "w watt watts",
        "kwh", "mwh", "kva", "v volt volts", "bar", "°c", "°f", "m/s", "km/h kmh", "kn knot knots knoten nœuds", "mm/s",
        "€ euro euros eur", "$ dollar dollars usd", "kb kilobyte kilobytes", "mb megabyte megabytes",
        "gb gigabyte gigabytes",
        "m²", "m³", "µm", "µg", "nm³", "ms/cm", "rpm", "hz", "khz", "mhz", "ghz", "k", "million millions millionen",
    )
    for unit in units.split()
}  # fmt: skip
