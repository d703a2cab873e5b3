alter table api_key add column labels text;
