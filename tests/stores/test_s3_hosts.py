"""Where links lead that are signed for a bucket of AWS: to the host of its region, which sends nobody elsewhere."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from aiobotocore.session import AioSession

from satchel.stores.distributed.objects_s3 import _config


@pytest.mark.parametrize(
    ("bucket", "host"),
    [
        ("satchel-bucket", "satchel-bucket.s3.eu-south-1.amazonaws.com"),
        ("satchel.bucket", "s3.eu-south-1.amazonaws.com"),
    ],
)
async def test_a_signed_link_leads_to_the_host_of_the_region(
    bucket: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    session: Any = AioSession()
    async with session.create_client("s3", region_name="eu-south-1", config=_config(bucket, None)) as client:
        link: str = await client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "k"})
    assert urlsplit(link).netloc == host
