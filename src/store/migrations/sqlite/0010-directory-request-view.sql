-- What was passed over of a request (a JSON list of names), and the user or group that it was about.
alter table directory_request add column ignored text;
alter table directory_request add column resource_id text;
