import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.DeliveriesApi;
import org.openapitools.client.api.IdentityApi;
import org.openapitools.client.api.SubscriptionsApi;
import org.openapitools.client.model.EventTypeName;
import org.openapitools.client.model.NewSubscription;
import org.openapitools.client.model.Proof;
import org.openapitools.client.model.SubscriptionRequest;

/** Calls all six operations with the client that openapi-generator makes. Prints what came back, one line for each. */
public class Calls {
  public static void main(String[] args) throws ApiException {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + System.getenv("TOKEN")));
    IdentityApi identity = new IdentityApi(client);
    SubscriptionsApi subscriptions = new SubscriptionsApi(client);
    DeliveriesApi deliveries = new DeliveriesApi(client);

    System.out.println("getIdentity " + identity.getIdentity().getPartnerOrg());
    SubscriptionRequest request =
        new SubscriptionRequest()
            .url("https://hooks.example.com/")
            .events(Set.of(EventTypeName.VC_TEST_PING));
    NewSubscription created = subscriptions.createSubscription(request, "once");
    System.out.println("createSubscription " + created.getSecret().substring(0, 6));
    boolean isListed = subscriptions.listSubscriptions().get(0).getId().equals(created.getId());
    System.out.println("listSubscriptions " + isListed);
    Proof proof = new Proof().secret(created.getSecret());
    System.out.println(
        "sendTestEvent " + deliveries.sendTestEvent(created.getId(), proof, null).getEnqueued());
    var failures = deliveries.listFailures(created.getId(), 10, null);
    System.out.println("listFailures " + failures.getItems() + " " + failures.getNextCursor());
    subscriptions.deleteSubscription(created.getId());
    System.out.println("deleteSubscription");
    try {
      subscriptions.deleteSubscription(created.getId());
    } catch (ApiException gone) {
      System.out.println("a problem " + gone.getCode());
    }
  }
}
