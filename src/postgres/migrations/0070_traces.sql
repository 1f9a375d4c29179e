-- The span that published an event: its attempts belong to the same trace. Null unless the process traced the request.
alter table events add column traceparent text check (length(traceparent) <= 55);
