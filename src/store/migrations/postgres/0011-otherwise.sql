-- What happens to calls that no rule decides: 'allow', 'refuse', or null = refuse as soon as an allow rule is in force.
alter table target add column otherwise text;

-- Targets with deny rules alone refused everything else so far: they go on until somebody decides.
update target set otherwise = 'refuse'
where exists (select 1 from rule where rule.target_id = target.id and rule.trial = 0)
  and not exists (
    select 1 from rule
    where rule.target_id = target.id and rule.trial = 0 and rule.effect = 'allow'
  );
