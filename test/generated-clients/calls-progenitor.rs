// Calls all six operations with a client that progenitor generated. Prints one line for each.
use partner::types::{EventTypeName, Proof, SubscriptionRequest};
use partner::Client;
use reqwest::header::{HeaderMap, AUTHORIZATION};
use std::{env, error::Error};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let base = env::args().nth(1).ok_or("which service?")?;
    let token = format!("Bearer {}", env::var("TOKEN")?);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, token.parse()?)]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    let client = Client::new_with_client(&base, http);

    println!("getIdentity {}", client.get_identity().await?.partner_org);

    let wanted = SubscriptionRequest {
        url: "https://hooks.example.com/in".try_into()?,
        events: vec![EventTypeName::VcTestPing],
    };
    let made = client.create_subscription(None, &wanted).await?;
    println!("createSubscription {}", &made.secret[..6]);

    let listed = client.list_subscriptions().await?;
    println!("listSubscriptions {}", listed.len() == 1);

    let proof = Proof { secret: made.secret.clone() };
    let sent = client.send_test_event(&made.id, None, &proof).await?;
    println!("sendTestEvent {}", sent.enqueued);

    let failures = client.list_failures(&made.id, None, None).await?;
    println!("listFailures {:?} {}", failures.items, failures.next_cursor.is_none());

    client.delete_subscription(&made.id).await?;
    println!("deleteSubscription");

    let gone = client.delete_subscription(&made.id).await.err().ok_or("deleted twice")?;
    println!("a problem {}", gone.status().ok_or("no answer")?);
    Ok(())
}
