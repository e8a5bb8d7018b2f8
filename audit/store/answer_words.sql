-- The words by which a question's answers differ from those of other questions, so that a search finds it by them: "raw fish" is
-- in the answers on sushi. A word counts once an answer, and the more, the fewer questions have it in theirs.
insert into answer_words
with said as (
    select question, count(*) over (partition by question) as answers,
           list_distinct(regexp_extract_all(strip_accents(lower(answer)), '[\p{L}\p{N}]{3,}')) as words
    from answers where not absent
),
counted as (
    select question, word, count(*) / any_value(answers) as share
    from (select question, answers, unnest(words) as word from said) group by all
),
spread as (select word, sum(share) as questions from counted group by word),
asked as (select count(distinct question) as questions from said),
weighed as (
    select question, word, share, share * ln(asked.questions / spread.questions) as weight
    from counted join spread using (word) cross join asked
)
select question, word, share from weighed where weight > 0
qualify row_number() over (partition by question order by weight desc, word) <= 24
