// Calls all six operations with a client that oapi-codegen generated. Prints one line for each.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"generated/partner"
)

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := partner.NewClientWithResponses(os.Args[1], partner.WithRequestEditorFn(authorize))
	check(err)

	me, err := client.GetIdentityWithResponse(ctx)
	check(err)
	fmt.Println("getIdentity", me.JSON200.PartnerOrg)

	made, err := client.CreateSubscriptionWithResponse(ctx, nil, partner.SubscriptionRequest{
		Url:    "https://hooks.example.com/in",
		Events: []partner.EventTypeName{"vc.test.ping"},
	})
	check(err)
	fmt.Println("createSubscription", made.JSON201.Secret[:6])

	listed, err := client.ListSubscriptionsWithResponse(ctx)
	check(err)
	fmt.Println("listSubscriptions", len(*listed.JSON200) == 1)

	sent, err := client.SendTestEventWithResponse(ctx, made.JSON201.Id, nil, partner.Proof{Secret: made.JSON201.Secret})
	check(err)
	fmt.Println("sendTestEvent", sent.JSON200.Enqueued)

	failures, err := client.ListFailuresWithResponse(ctx, made.JSON201.Id, nil)
	check(err)
	fmt.Println("listFailures", failures.JSON200.Items, failures.JSON200.NextCursor == nil)

	deleted, err := client.DeleteSubscriptionWithResponse(ctx, made.JSON201.Id)
	check(err)
	fmt.Println("deleteSubscription", deleted.StatusCode())

	gone, err := client.DeleteSubscriptionWithResponse(ctx, made.JSON201.Id)
	check(err)
	fmt.Println("a problem", gone.ApplicationproblemJSON404.Code)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
