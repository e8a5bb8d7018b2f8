"""Words as data for the masking of names: words and abbreviations that do not identify an institution."""

from __future__ import annotations

_SMALL = "a an and at by for from in of on or the to with your our my after before de der und la le du des"
SMALL_WORDS = frozenset(_SMALL.split())

_ORDINARY = """
academic adult adults advanced aging alliance american and associated association autologous basic before better blood board
body bone book booklet brain brochure cancer cardiac cardiology care caring center centers centre centres chapter child
childhood children childrens chronic city clinic clinical clinics college combined comfort community complete comprehensive
consortium control council county cystic day department diabetes digestive disease diseases disorders division donation
donor donors download east eastern edition education emergency everything eye faculty families family federal fibrosis first
folder foundation general genetic genetics good group guidance guide guidebook guideline guidelines guides handbook
handbooks handout health healthcare healthy heart help hematology hepatology home hope hospital hospitals human immunology
information institute institutes institution institutional instructions international intestinal intestine introduction
journey kidney kidneys know knowledge leaflet learning life light liver living lung lungs manual marrow medical medicine
medicines memorial mental metabolic midwest national need nephrology network neurological new nhs north northeast northern
northwest nurse nursing office oncology organ organization organs orthopedic packet pancreas part patient patients pediatric
pediatrics pharmacy physicians policy post practice pre pregnancy prevention primary procedure program programme programs
protocol public pulmonary quick rare recipient recipients reference regional rehabilitation renal research resource
resources road roadmap saint saints school science sciences section senior service services skin society solid south
southeast southern southwest specialist specialists specialty spine state stem stroke summary support surgeons surgery
surgical system teaching team therapy thoracic topic topics transplant transplantation transplants treatment trust union
unit united university urology version veteran veterans view welcome well wellness west western what when where woman women
womens work year young youth
"""
ORDINARY_WORDS = frozenset(_ORDINARY.split())
"""Words of names that are also words of ordinary or medical English, or in many names: masked inside a name only."""

_SYSTEM = """
agent alone answer answering answers assistant augmented base baseline best book chat closed context default demo dense expert
evidence finder free full generation generator hybrid instruct large language mini model models multi open other person plain
preview reader rerank retrieval retrieved retriever search second simulated single small source sources sparse system systems
text third tiny turbo vanilla without
"""
SYSTEM_WORDS = frozenset(_SYSTEM.split())
"""Words in names of answering systems and models that do not identify one: masked inside a name only."""

_MEDICAL = """
abo acs ada aids aki ald alp als alt ama apd arb arf ast atg avf bid bka bmi bmp bmt bnp bpd bph brca bun cabg cad cbc cbt
ccu cdi cea cgm chd chf ckd cll cmv cns copd covid cpap cpr crp crrt csf ct cva cvp dbd dcd dexa dha dka dna dnr dsa dvt ebv
ecg echo ecmo eeg efs egfr eia eip ekg emg emt enod ent eob epo er ercp esld esr esrd etoh ev fap fda fev flu fsgs gerd gfr
ggt gi gvhd hav hbv hcc hct hcv hdl hdv hep hhv hip hiv hla hpv hsv hus hypo iga igg ihd inr iou iud iv ivf ivig jak kdpi
kub lad las ldh ldl lft lfts lvad lvh mdi mds meld mgus mi mmf mpa mri mrsa msm mtor nafld nas nash nat ngt nhl npo nsaid
nsaids nyha obgyn ot otc pap pcp pcr pda peg peld pet pft pfts phs piv pjp pkd pml ppd ppi pra prbc prn psa psc pt pta ptld
ptt pud pvd qid ra rbc rna ros rsv sah scd shunt sle sob spf ssi std stds sti stis tac tb tia tid tips tmp tpn trali tsh ttp
udca uri usa uti utis uv vad vre vte vzv wbc who wic
"""
MEDICAL_ABBREVIATIONS = frozenset(_MEDICAL.split())
"""Abbreviations with a medical meaning: never taken for the initials of an institution."""

INSTITUTION_WORDS = (
    "University Medical Clinic Clinics Hospital Hospitals Center Centre Centers Health Healthcare System College School "
    "Institute Transplant Transplantation Kidney Liver Heart Lung Children's Foundation Trust Campus"
)
"""Words that go with a masked word of a name: "Alder Transplant Center" is one name."""
